"""Idempotency keys: what is one, what makes two requests the same, and what a repeated one is answered."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from api.messages.domain.receipt import Receipt
from api.messages.domain.request import SendRequest
from api.messages.domain.window import instant_of
from api.refusals import Refusal, RefusedError
from contracts.values import Environment

REMEMBERED_FOR = timedelta(hours=24)
KEY_CHARS_MAX = 255
FINGERPRINT_PURPOSE = "idempotency"
"""Pepper purpose: a fingerprint covers what a message says and to whom, so it must not be guessable."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Scope:
    """Where a key means the same: keys of other projects, environments or numbers are other keys."""

    project_id: UUID
    environment: Environment
    number_id: UUID
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A request that wants its key for itself."""

    scope: Scope
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a key was used for."""

    fingerprint: str
    receipt: Receipt


def checked_key(raw: str | None) -> str | None:
    """The key of a request, if it has one; raises `RefusedError(IDEMPOTENCY_KEY_INVALID)`."""
    if raw is None:
        return None
    controls = any(character < " " or "\x7f" <= character <= "\x9f" for character in raw)
    if not 0 < len(raw) <= KEY_CHARS_MAX or not raw.strip() or controls:
        raise RefusedError(Refusal.IDEMPOTENCY_KEY_INVALID, field="Idempotency-Key")
    return raw


def canonical(request: SendRequest) -> str:
    """The same text for requests that mean the same: key order, nulls, defaults and spellings of an instant aside."""
    meaning = _compact(asdict(request))
    for name in ("deliver_at", "deliver_until"):
        if name in meaning:
            meaning[name] = _same_instant(meaning[name])
    return json.dumps(meaning, sort_keys=True, separators=(",", ":"))


def _compact(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {name: _compact(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if not _says_nothing(part)}
    if isinstance(value, list | tuple):
        return [_compact(part) for part in value]
    return value


def _says_nothing(part: Any) -> bool:
    return part is None or part is False or (isinstance(part, str | list | dict) and not part)


def _same_instant(text: str) -> str:
    try:
        at = instant_of(text, "deliverAt")
    except RefusedError:
        return text
    return at.isoformat() if at is not None else text


def replay(remembered: Remembered | None, *, fingerprint: str) -> Receipt | RefusedError:
    """The receipt again, or the refusal of a key that was used for something else or is just being used."""
    if remembered is None:
        return RefusedError(Refusal.IDEMPOTENCY_KEY_IN_USE, field="Idempotency-Key")
    if remembered.fingerprint != fingerprint:
        return RefusedError(Refusal.IDEMPOTENCY_KEY_REUSED, field="Idempotency-Key")
    return remembered.receipt
