"""Tells where a job is, in the words of the facts: the answer to whoever asks for it to be put to work."""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from contracts.errors import ErrorCode
from contracts.facts import (
    MessageDeferred,
    MessageDispatchCanceled,
    MessageDispatched,
    MessageDispatchFailed,
    MessageUncertain,
)
from contracts.facts.fact import MessageFact
from contracts.facts.messages import DeferReason, Proof
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """A job and whether its lane could send; `lane_open` is False for a lane nobody configured.

    `is_due`: its time has come, so that a SCHEDULED job is on its way back into its lane, or waits for there to be one.
    """

    ref: MessageRef
    state: JobState
    attempt: int
    due_at: datetime
    is_due: bool
    reason: str | None
    resolve_by: datetime | None
    key_id: str | None
    proof: str | None
    error_code: str | None
    duplicate_possible: bool
    finished_at: datetime | None
    updated_at: datetime
    lane_open: bool
    lane_paused: bool


def fact_of_whereabouts(job: Whereabouts) -> MessageFact:
    """The fact that was, or could have been, said when the job got where it is."""
    match job.state:
        case JobState.SCHEDULED | JobState.READY | JobState.IN_FLIGHT:
            reason = _why_waiting(job)
            due = None if job.is_due else job.due_at
            return MessageDeferred(
                ref=job.ref, attempt=job.attempt, reason=reason, detail=job.state.value, next_attempt_at=due
            )
        case JobState.UNCERTAIN:
            return MessageUncertain(
                ref=job.ref,
                attempt=job.attempt,
                reason=job.reason or "",
                resolve_by=job.resolve_by or job.updated_at,
            )
        case JobState.DISPATCHED:
            return MessageDispatched(
                ref=job.ref,
                attempt=job.attempt,
                key_id=job.key_id or "",
                dispatched_at=job.finished_at or job.updated_at,
                proof=Proof(job.proof or Proof.RESPONSE),
                duplicate_possible=job.duplicate_possible,
            )
        case JobState.FAILED:
            return MessageDispatchFailed(
                ref=job.ref,
                attempt=job.attempt,
                error_code=ErrorCode(job.error_code or ErrorCode.UNCONFIRMED),
                failed_at=job.finished_at or job.updated_at,
            )
        case JobState.CANCELED:
            return MessageDispatchCanceled(ref=job.ref, canceled_at=job.finished_at or job.updated_at)
        case _:
            assert_never(job.state)


def _why_waiting(job: Whereabouts) -> DeferReason:
    if job.state is JobState.IN_FLIGHT:
        return DeferReason.PACED
    if not job.is_due:
        return DeferReason.RETRY if job.attempt else DeferReason.NOT_DUE
    if job.lane_paused:
        return DeferReason.PAUSED
    if not job.lane_open:
        return DeferReason.NUMBER_CLOSED
    return DeferReason.PACED
