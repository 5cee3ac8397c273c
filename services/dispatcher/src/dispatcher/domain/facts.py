"""What the dispatcher says about a message, for each thing that can come of it."""

from datetime import datetime
from typing import assert_never

from contracts.facts import MessageDeferred, MessageDispatched, MessageDispatchFailed, MessageUncertain
from contracts.facts.fact import MessageFact
from contracts.facts.messages import DeferReason, Proof
from dispatcher.domain.evidence import Conclusion, Confirmed, GivenUp, Resend, Wait
from dispatcher.domain.jobs import Attempt, Suspect
from dispatcher.domain.verdicts import Dispatched, Failed, Held, Released, Retry, Uncertain, Verdict


def fact_of(attempt: Attempt, verdict: Verdict, *, now: datetime) -> MessageFact | None:
    """The fact about an attempt that ended; None where nothing happened that anybody needs to know."""
    ref, number = attempt.ref, attempt.attempt
    match verdict:
        case Dispatched():
            return MessageDispatched(
                ref=ref,
                attempt=number,
                key_id=verdict.key_id,
                dispatched_at=now,
                proof=Proof.RESPONSE,
                duplicate_possible=attempt.duplicate_possible,
            )
        case Failed():
            return MessageDispatchFailed(
                ref=ref, attempt=number, error_code=verdict.code, detail=verdict.detail, failed_at=now
            )
        case Retry():
            return MessageDeferred(
                ref=ref,
                attempt=number,
                reason=DeferReason.RETRY,
                detail=verdict.reason,
                next_attempt_at=verdict.next_attempt_at,
            )
        case Held():
            return MessageDeferred(ref=ref, attempt=number, reason=DeferReason.NUMBER_CLOSED, detail=verdict.reason)
        case Released():
            return None
        case Uncertain():
            return MessageUncertain(ref=ref, attempt=number, reason=verdict.reason, resolve_by=verdict.resolve_by)
        case _:
            assert_never(verdict)


def fact_of_conclusion(suspect: Suspect, conclusion: Conclusion, *, now: datetime) -> MessageFact | None:
    """The fact about an uncertain attempt that was resolved; None while it is not."""
    ref, number = suspect.ref, suspect.attempt
    match conclusion:
        case Confirmed():
            return MessageDispatched(
                ref=ref,
                attempt=number,
                key_id=conclusion.key_id,
                dispatched_at=now,
                proof=conclusion.proof,
                duplicate_possible=suspect.duplicate_possible,
            )
        case Resend():
            detail = "UNRESOLVED" if conclusion.duplicate_possible else "ABSENT"
            return MessageDeferred(
                ref=ref, attempt=number, reason=DeferReason.RETRY, detail=detail, next_attempt_at=now
            )
        case GivenUp():
            return MessageDispatchFailed(ref=ref, attempt=number, error_code=conclusion.code, failed_at=now)
        case Wait():
            return None
        case _:
            assert_never(conclusion)
