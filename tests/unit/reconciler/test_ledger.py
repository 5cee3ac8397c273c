"""What each fact says about silence, and which verdict a forsaken message gets."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from contracts.errors import ErrorCode
from contracts.facts import MessageAccepted, MessageDeferred, MessageStatusChanged, MessageUncertain
from contracts.facts.messages import DeferReason
from contracts.status import Status
from contracts.values import Category, Environment, MessageRef
from reconciler.domain.ledger import (
    CLOSING,
    HELD_LOOK_AFTER,
    Evidence,
    Forsaken,
    Hearing,
    Suspicious,
    entry_of,
    requeue,
    verdict,
)

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
GRACE, MINUTE = timedelta(seconds=30), timedelta(minutes=1)
REF = MessageRef(
    message_id=UUID(int=1),
    tenant_id=UUID(int=2),
    project_id=UUID(int=3),
    number_id=UUID(int=4),
    instance="loja",
    environment=Environment.TEST,
    category=Category.OTP,
    correlation_id="c",
)
ACCEPTED = MessageAccepted(
    ref=REF,
    deliver_by=NOW + MINUTE,
    deliver_until=NOW + 3 * MINUTE,
    sealed="sealed",
    recipient_hash="0" * 64,
    text_hash="1" * 64,
    accepted_at=NOW,
)


def deferred(next_attempt_at: datetime | None) -> MessageDeferred:
    """The message waits."""
    return MessageDeferred(ref=REF, attempt=0, reason=DeferReason.PAUSED, next_attempt_at=next_attempt_at)


@pytest.mark.parametrize(
    ("fact", "look_at"),
    [
        (ACCEPTED, NOW + MINUTE + GRACE),
        (deferred(NOW + 5 * MINUTE), NOW + 5 * MINUTE + GRACE),
        (deferred(NOW - 5 * MINUTE), NOW + GRACE),
        (deferred(None), NOW + HELD_LOOK_AFTER + GRACE),
        (MessageUncertain(ref=REF, attempt=1, reason="x", resolve_by=NOW + 15 * MINUTE), NOW + 15 * MINUTE + GRACE),
        (MessageUncertain(ref=REF, attempt=1, reason="x", resolve_by=NOW - MINUTE), NOW + GRACE),
    ],
)
def test_silence_is_suspicious_only_after_what_was_promised(fact: MessageAccepted, look_at: datetime) -> None:
    assert entry_of(fact, occurred_at=NOW, grace=GRACE).look_at == look_at


@pytest.mark.parametrize("status", list(Status))
def test_a_status_closes_unless_work_may_be_left(status: Status) -> None:
    fact = MessageStatusChanged(
        ref=REF, previous=Status.QUEUED, status=status, changed_at=NOW, version=2, accepted_at=NOW
    )
    entry = entry_of(fact, occurred_at=NOW, grace=GRACE)
    assert (entry.closed_at is not None) == (status in CLOSING) == (status not in (Status.QUEUED, Status.DISPATCHED))
    assert (entry.evidence is Evidence.NONE) == (status is Status.QUEUED)


@pytest.mark.parametrize("evidence", [Evidence.NONE, Evidence.DEFERRED, Evidence.UNCERTAIN])
def test_only_an_uncertain_message_is_requeued_as_possibly_sent(evidence: Evidence) -> None:
    command = requeue(Suspicious(accepted=ACCEPTED, evidence=evidence, requeues=1, is_unanswered=False))
    assert (command.ref, command.accepted) == (REF, ACCEPTED)
    assert command.possibly_sent is (evidence is Evidence.UNCERTAIN)


@pytest.mark.parametrize(
    ("evidence", "code"),
    [(Evidence.NONE, ErrorCode.DELIVERY_TIMEOUT), (Evidence.DEFERRED, ErrorCode.MESSAGE_EXPIRED)],
)
def test_the_verdict_tells_whether_anybody_ever_worked_it(evidence: Evidence, code: ErrorCode) -> None:
    lost = verdict(Forsaken(ref=REF, evidence=evidence, lost_at=NOW))
    assert (lost.ref, lost.error_code, lost.lost_at) == (REF, code, NOW)


def test_hearing_counts_from_the_first_look_after_the_last_gap() -> None:
    hearing = Hearing()
    for minutes, is_connected in enumerate((True, True, False, True, True)):
        hearing = hearing.observed(is_connected=is_connected, now=NOW + minutes * MINUTE)
    assert hearing.since == NOW + 3 * MINUTE
    assert hearing.observed(is_connected=False, now=NOW).since is None
