"""What an operator can do with dead letters, and the sentences by which a letter is explained."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from contracts.repair_questions import DeadLetter, DeadLetterExplained, KeptLetter, LetterState
from contracts.status import Status
from reconciler.domain.dead_letters import SENT_AT
from reconciler.domain.diagnosis import Cause, CheckSeal, Corpse, Diagnosis, diagnose, window_of

TOLD_AT: Final = "cloudEvents:time"
HEADERS_SHOWN: Final = ("x-delivery-count", "cloudEvents:source", TOLD_AT, SENT_AT, "traceparent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """A letter as it is stored, opened for whoever decides about it."""

    letter: DeadLetter
    headers: dict[str, str]
    body: bytes = field(repr=False)

    @property
    def corpse(self) -> Corpse:
        """What matters to why it died."""
        return Corpse(
            queue=self.letter.queue,
            reason=self.letter.reason,
            type=self.letter.type,
            statement_id=self.letter.statement_id,
            sent_at=self.headers.get(SENT_AT),
            size_bytes=self.letter.size_bytes,
            body=self.body,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A letter on its way back into its queue; `said_at` is when it was first said: nobody takes it for newer."""

    letter_id: UUID
    statement_id: UUID | None
    queue: str
    type: str
    said_at: datetime
    body: bytes = field(repr=False)


def decide_replay(filed: Filed, check_seal: CheckSeal, *, now: datetime) -> Replay | KeptLetter:
    """Back into its queue, or why not."""
    letter = filed.letter
    found = diagnose(filed.corpse, check_seal)
    obstacle = _obstacle(letter, found, now)
    if obstacle is not None or letter.type is None:
        code, sentence = obstacle or (found.cause.value, found.sentence)
        return KeptLetter(letter_id=letter.letter_id, code=code, sentence=sentence)
    return Replay(
        letter_id=letter.letter_id,
        statement_id=letter.statement_id,
        queue=letter.queue,
        type=letter.type,
        said_at=_said_at(filed),
        body=filed.body,
    )


def not_found(letter_id: UUID) -> KeptLetter:
    """For a letter that is not there."""
    return KeptLetter(letter_id=letter_id, code="NOT_FOUND", sentence="There is no such dead letter.")


def not_waiting(letter: DeadLetter) -> KeptLetter:
    """For a letter that somebody decided about already."""
    return KeptLetter(letter_id=letter.letter_id, code="NOT_WAITING", sentence=_settled(letter))


def explain(filed: Filed, check_seal: CheckSeal, *, now: datetime, ledger: Status | None) -> DeadLetterExplained:
    """In sentences; `ledger` is what is known of the message it is about, if anything."""
    letter = filed.letter
    found = diagnose(filed.corpse, check_seal)
    obstacle = _obstacle(letter, found, now)
    return DeadLetterExplained(
        letter=letter,
        what=_what(letter, ledger),
        why=_why(letter, found),
        replay=obstacle[1] if obstacle else _prospect(letter, found),
        replayable=obstacle is None,
        headers={name: filed.headers[name] for name in HEADERS_SHOWN if name in filed.headers},
    )


def _obstacle(letter: DeadLetter, found: Diagnosis, now: datetime) -> tuple[str, str] | None:
    if letter.state is not LetterState.WAITING:
        return "NOT_WAITING", _settled(letter)
    if not found.is_curable:
        return found.cause.value, f"A replay would die the same way. {found.sentence}"
    until = window_of(found.statement)
    if until is not None and until <= now:
        over = until.isoformat(timespec="seconds")
        return "WINDOW_OVER", f"Its message was to be delivered until {over}; it is not sent late."
    return None


def _settled(letter: DeadLetter) -> str:
    at = letter.settled_at.isoformat(timespec="seconds") if letter.settled_at else "some time ago"
    if letter.state is LetterState.DISCARDED:
        return f"It was discarded at {at}."
    return f"It was put back into its queue at {at} and has not died since."


def _what(letter: DeadLetter, ledger: Status | None) -> str:
    kind = f"`{letter.type}`" if letter.type else "Something without a type"
    about = f", about message {letter.message_id}" if letter.message_id else ""
    known = f", which is {ledger.value} as far as the ledger knows" if ledger is not None else ""
    return f"{kind} of {letter.size_bytes} bytes in the queue `{letter.queue}`{about}{known}."


def _why(letter: DeadLetter, found: Diagnosis) -> str:
    first, last = (at.isoformat(timespec="seconds") for at in (letter.first_died_at, letter.last_died_at))
    times = f"once, at {first}" if letter.count == 1 else f"{letter.count} times, first at {first}, last at {last}"
    then = f" Then: {letter.error}" if letter.cause != found.cause.value and letter.error else ""
    return f"The queue gave it up {times} (`{letter.reason}`). {found.sentence}{then}"


def _prospect(letter: DeadLetter, found: Diagnosis) -> str:
    back = f"It would go back into `{letter.queue}`, and into no other queue"
    match found.cause:
        case Cause.NO_ID | Cause.NO_TIME:
            return f"{back}, with a whole envelope."
        case Cause.LISTENER_FAILED:
            return f"{back}; if its listener still fails at it, it ends here again."
        case _:
            return f"{back}; what is known there already changes nothing."


def _said_at(filed: Filed) -> datetime:
    for name in (TOLD_AT, SENT_AT):
        try:
            told = datetime.fromisoformat(filed.headers.get(name, ""))
        except ValueError:
            continue
        if told.tzinfo is not None:
            return told
    return filed.letter.first_died_at
