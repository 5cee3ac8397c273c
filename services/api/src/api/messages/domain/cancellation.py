"""Which messages can still be canceled, and what each caller is told of each id it gave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from api.messages.domain.details import KnownMessage
from contracts.status import Status


class CancelRefusal(StrEnum):
    """Why a message was not canceled."""

    NOT_FOUND = "NOT_FOUND"
    NOT_CANCELABLE = "NOT_CANCELABLE"
    OWNER_UNAVAILABLE = "OWNER_UNAVAILABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOutcome:
    """Ids as they were given, each in exactly one of the two, in the order given."""

    canceled: tuple[str, ...]
    failed: tuple[tuple[str, CancelRefusal], ...]


def undecided(found: Mapping[str, KnownMessage]) -> dict[UUID, KnownMessage]:
    """The messages that only the dispatcher can decide on: waiting, as far as we know, and never possibly sent.

    A suspect is not asked about, so that its cancellation cannot come true where the dispatcher has lost its job.
    """
    waiting = (known for known in found.values() if known.status is Status.QUEUED and not known.is_suspect)
    return {known.ref.message_id: known for known in waiting}


def outcome_of(
    references: Sequence[str], found: Mapping[str, KnownMessage], decided: Mapping[UUID, bool] | None
) -> CancelOutcome:
    """`decided` is the dispatcher's word on the undecided, None if it kept silent. Canceled before is canceled."""
    canceled: list[str] = []
    failed: list[tuple[str, CancelRefusal]] = []
    for reference in dict.fromkeys(references):
        refusal = _refusal(found.get(reference), decided)
        if refusal is None:
            canceled.append(reference)
        else:
            failed.append((reference, refusal))
    return CancelOutcome(canceled=tuple(canceled), failed=tuple(failed))


def _refusal(known: KnownMessage | None, decided: Mapping[UUID, bool] | None) -> CancelRefusal | None:
    if known is None:
        return CancelRefusal.NOT_FOUND
    if known.status is Status.CANCELED:
        return None
    if known.status is not Status.QUEUED or known.is_suspect:
        return CancelRefusal.NOT_CANCELABLE
    if decided is None:
        return CancelRefusal.OWNER_UNAVAILABLE
    return None if decided.get(known.ref.message_id, False) else CancelRefusal.NOT_CANCELABLE
