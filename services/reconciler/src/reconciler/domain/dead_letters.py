"""Reads what a broker wrote on a message that a queue gave up on, whatever the message itself is."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeGuard
from uuid import UUID, uuid5

NAMESPACE: Final = UUID("6b1f7a52-8f0c-5d7a-9a53-4f6c1f7f6f10")
BODY_BYTES_MAX: Final = 1024 * 1024
VALUE_CHARS_MAX: Final = 255
COUNT_MAX: Final = 2**31 - 1
UNKNOWN: Final = "unknown"
KEPT_HEADERS: Final = (
    "cloudEvents:id",
    "cloudEvents:source",
    "cloudEvents:time",
    "cloudEvents:type",
    "traceparent",
    "x-delivery-count",
    "x-first-death-queue",
    "x-first-death-reason",
)
"""Headers that explain; none of them can hold what a message says."""
SENT_AT: Final = "timestamp"
"""Kept beside them: when it was sent, from its envelope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """One death of one message. The id is made of the body, its statement and its queue: a repeat is recognised."""

    id: UUID
    statement_id: UUID | None
    message_id: UUID | None
    origin_queue: str
    reason: str
    count: int
    type: str | None
    routing_key: str
    headers: Mapping[str, str]
    size_bytes: int
    first_died_at: datetime
    last_died_at: datetime
    body: bytes = field(repr=False)


def dead_letter_of(
    *,
    body: bytes,
    message_id: str | None,
    type_name: str | None,
    routing_key: str,
    headers: Mapping[str, object],
    now: datetime,
    sent_at: datetime | None = None,
) -> DeadLetter:
    """Never raises: a letter without a readable history is filed all the same."""
    deaths = _deaths(headers)
    last = deaths[0] if deaths else {}
    count = last.get("count")
    origin_queue, reason = _text(last.get("queue")) or UNKNOWN, _text(last.get("reason")) or UNKNOWN
    identity = (_text(message_id) or "", hashlib.sha256(body).hexdigest(), origin_queue)
    died_at = [at for death in deaths if (at := _moment(death.get("time"))) is not None]
    return DeadLetter(
        id=uuid5(NAMESPACE, "|".join(identity)),
        statement_id=_uuid(message_id),
        message_id=message_of(body),
        origin_queue=origin_queue,
        reason=reason,
        count=count if _is_count(count) else 1,
        type=_text(type_name),
        routing_key=_routing_key(last) or _text(routing_key) or "",
        headers=_kept(headers, sent_at),
        size_bytes=len(body),
        first_died_at=min(died_at, default=now),
        last_died_at=max(died_at, default=now),
        body=body[:BODY_BYTES_MAX],
    )


def message_of(body: bytes) -> UUID | None:
    """The message that a body is about, if it can be told: of a fact, or of a command that carries one."""
    try:
        content = json.loads(body[:BODY_BYTES_MAX])
    except (ValueError, RecursionError):
        return None
    ref = content.get("ref") if isinstance(content, dict) else None
    message_id = ref.get("message_id") if isinstance(ref, dict) else None
    return _uuid(message_id) if isinstance(message_id, str) else None


def _kept(headers: Mapping[str, object], sent_at: datetime | None) -> dict[str, str]:
    kept = {name: value for name in KEPT_HEADERS if (value := _text(headers.get(name))) is not None}
    return kept | ({SENT_AT: sent_at.isoformat()} if isinstance(sent_at, datetime) else {})


def _deaths(headers: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """The broker's own history, latest death first."""
    history = headers.get("x-death")
    if not isinstance(history, list):
        return ()
    return [death for death in history if isinstance(death, Mapping)]


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= COUNT_MAX


def _routing_key(death: Mapping[str, object]) -> str | None:
    keys = death.get("routing-keys")
    return _text(keys[0]) if isinstance(keys, list) and keys else None


def storable(text: str) -> str:
    """The text as a database takes it: without NUL and lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _text(value: object) -> str | None:
    """A bounded text a database can store."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return None
    return storable(value)[:VALUE_CHARS_MAX]


def _moment(value: object) -> datetime | None:
    if not isinstance(value, datetime) or not 1970 <= value.year <= 9000:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None
