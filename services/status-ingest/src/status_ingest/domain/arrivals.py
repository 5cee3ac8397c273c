"""What is known of a posted body: as little as keeping it safely needs, and nothing that could refuse it."""

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

NO_EVENT = "none"
_SECRET_BYTES = re.compile(
    rb"""(?ix)(["']?(?:api[_-]?key|authorization|token|secret|password|server[_-]?url|jwt[_-]?key|destination)["']?\s*[:=]\s*)
    (?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,&;}]+)"""
)
"""Credentials in what only looks like JSON, to the end of the value or of the body."""


class Fault(StrEnum):
    """Why a body goes to quarantine without being interpreted."""

    EMPTY = "empty"
    NOT_JSON = "not_json"
    TOO_LARGE = "too_large"
    CREDENTIAL_EXPIRED = "credential_expired"
    FOREIGN_INSTANCE = "foreign_instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is known of a body at the edge. `plaintext` is free of credentials and may hold personal data."""

    event: str = NO_EVENT
    instance: str | None = None
    plaintext: bytes | None = field(default=None, repr=False)
    size_bytes: int | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A reading as it is stored: sealed, under its own id."""

    id: UUID
    event: str
    instance: str | None
    sealed: str | None = field(repr=False)
    size_bytes: int | None
    fault: Fault | None


def scrub(body: bytes) -> bytes:
    """A body that is no JSON, without the values of what look like credentials."""
    return _SECRET_BYTES.sub(rb"\1***", body)


def text_of(body: bytes) -> str:
    """The text of a JSON body: a byte that fits none of its encodings must not cost the whole event."""
    encoding = json.detect_encoding(body)
    try:
        return body.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return body.decode(encoding, "replace")
