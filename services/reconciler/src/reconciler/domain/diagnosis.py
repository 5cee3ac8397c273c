"""Why a dead letter died, as far as can be found out from the letter itself, and whether a replay could end better."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from chassis.seal import SealError, UnknownKeyError
from contracts.commands import RequeueMessage
from contracts.facts import MessageAccepted
from contracts.registry import BY_TYPE, UnreadableError, decode
from contracts.statement import Statement
from contracts.topology import QUEUES
from reconciler.domain.dead_letters import BODY_BYTES_MAX, SENT_AT, DeadLetter

LANES: Final = "messages--"
CheckSeal = Callable[[str], None]
"""Raises `SealError` for what could not be opened."""


class Cause(StrEnum):
    """What was found wrong."""

    TOO_LARGE = "TOO_LARGE"
    NO_QUEUE = "NO_QUEUE"
    NO_TYPE = "NO_TYPE"
    NOT_JSON = "NOT_JSON"
    OLD_VERSION = "OLD_VERSION"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    INVALID_FIELDS = "INVALID_FIELDS"
    WRONG_QUEUE = "WRONG_QUEUE"
    SEAL_BROKEN = "SEAL_BROKEN"
    UNKNOWN_KEY = "UNKNOWN_KEY"
    NO_ID = "NO_ID"
    NO_TIME = "NO_TIME"
    LISTENER_FAILED = "LISTENER_FAILED"
    NOTHING_FOUND = "NOTHING_FOUND"


CURABLE: Final = frozenset({Cause.NO_ID, Cause.NO_TIME, Cause.LISTENER_FAILED, Cause.NOTHING_FOUND})
"""What a replay may outlive: an envelope gets an id and a time, a listener may have been mended, a key may be back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpse:
    """A letter as far as it matters to why it died."""

    queue: str
    reason: str
    type: str | None
    statement_id: UUID | None
    sent_at: str | None
    size_bytes: int
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """`statement` is what was read, if it could be; `sentence` never repeats content."""

    cause: Cause
    sentence: str
    statement: Statement | None = field(default=None, repr=False)

    @property
    def is_curable(self) -> bool:
        """Whether it is worth trying again."""
        return self.cause in CURABLE


def corpse_of(letter: DeadLetter) -> Corpse:
    """A letter that was just delivered."""
    return Corpse(
        queue=letter.origin_queue,
        reason=letter.reason,
        type=letter.type,
        statement_id=letter.statement_id,
        sent_at=letter.headers.get(SENT_AT),
        size_bytes=letter.size_bytes,
        body=letter.body,
    )


def diagnose(corpse: Corpse, check_seal: CheckSeal) -> Diagnosis:
    """What is wrong with a letter by today's code and keys; never raises."""
    unread = _unread(corpse)
    if unread is not None:
        return unread
    try:
        statement = decode(corpse.type or "", corpse.body)
    except UnreadableError as error:
        return Diagnosis(cause=Cause.INVALID_FIELDS, sentence=f"It does not have the agreed form: {error}."[:500])
    listeners = BY_TYPE[statement.TYPE].heard_by
    if owner_of(corpse.queue) not in listeners:
        sentence = f"`{statement.TYPE}` is not for this queue; it is heard by {', '.join(listeners)}."
        return Diagnosis(cause=Cause.WRONG_QUEUE, sentence=sentence, statement=statement)
    return _envelope(corpse, statement, check_seal)


def owner_of(queue: str) -> str | None:
    """The service that listens to a queue; None for a queue nobody knows."""
    if queue.startswith(LANES):
        return "dispatcher"
    return queue.split(".")[0] if any(queue == known.name for known in QUEUES) else None


def window_of(statement: Statement | None) -> datetime | None:
    """The end of the window in which a message may be sent, for what would have it sent."""
    match statement:
        case MessageAccepted():
            return statement.deliver_until
        case RequeueMessage():
            return statement.accepted.deliver_until
        case _:
            return None


def _unread(corpse: Corpse) -> Diagnosis | None:
    if corpse.size_bytes > BODY_BYTES_MAX:
        sentence = f"It has {corpse.size_bytes} bytes; only the first {BODY_BYTES_MAX} were kept."
        return Diagnosis(cause=Cause.TOO_LARGE, sentence=sentence)
    if owner_of(corpse.queue) is None:
        return Diagnosis(cause=Cause.NO_QUEUE, sentence="Nobody knows the queue in which it died.")
    if not corpse.type:
        return Diagnosis(cause=Cause.NO_TYPE, sentence="Its envelope does not say what it is: there is no type.")
    if not _is_json(corpse.body):
        return Diagnosis(cause=Cause.NOT_JSON, sentence="Its body is not JSON.")
    if corpse.type in BY_TYPE:
        return None
    known = [name for name in BY_TYPE if name.rsplit(".v", 1)[0] == corpse.type.rsplit(".v", 1)[0]]
    if known:
        sentence = f"It is of a version that nobody reads; what is read is `{known[0]}`."
        return Diagnosis(cause=Cause.OLD_VERSION, sentence=sentence)
    return Diagnosis(cause=Cause.UNKNOWN_TYPE, sentence="Nobody knows statements of its type.")


def _envelope(corpse: Corpse, statement: Statement, check_seal: CheckSeal) -> Diagnosis:
    try:
        for sealed in _seals_in(statement.model_dump(mode="json")):
            check_seal(sealed)
    except UnknownKeyError:
        sentence = "Its content is sealed with a key that is not in the key ring (SEAL_KEYS)."
        return Diagnosis(cause=Cause.UNKNOWN_KEY, sentence=sentence, statement=statement)
    except SealError:
        sentence = "What it carries as sealed content is no seal of ours."
        return Diagnosis(cause=Cause.SEAL_BROKEN, sentence=sentence, statement=statement)
    cause, sentence = _last_resort(corpse)
    return Diagnosis(cause=cause, sentence=sentence, statement=statement)


def _last_resort(corpse: Corpse) -> tuple[Cause, str]:
    if corpse.statement_id is None:
        return Cause.NO_ID, "Its envelope has no usable message id, by which repeats are recognised."
    if corpse.sent_at is None:
        return Cause.NO_TIME, "Its envelope does not say when it was sent."
    if corpse.reason == "delivery_limit":
        return Cause.LISTENER_FAILED, "Its listener failed at it each time, until the limit of deliveries was reached."
    return (
        Cause.NOTHING_FOUND,
        "Nothing is wrong with it today; what was wrong then is gone, or only its listener knew.",
    )


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _seals_in(content: object) -> Iterator[str]:
    """Every sealed text, by the names we give them."""
    if isinstance(content, dict):
        for name, value in content.items():
            if isinstance(value, str) and name.startswith("sealed"):
                yield value
            else:
                yield from _seals_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from _seals_in(value)
