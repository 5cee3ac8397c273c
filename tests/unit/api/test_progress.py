"""Facts as a message sees them, and batches of them in rounds."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.messages.domain.progress import Report, report_of, waves
from contracts.errors import ErrorCode
from contracts.facts import (
    MessageAccepted,
    MessageDeferred,
    MessageDispatched,
    MessageDispatchFailed,
    MessageLost,
    MessageUncertain,
    ReceiptRecorded,
    WebhookDelivered,
    WebhookExhausted,
)
from contracts.facts.messages import DeferReason, Proof
from contracts.ids import uuid7
from contracts.statement import Statement
from contracts.status import RANK, Status

from .people import NOW, REF

LATER = NOW + timedelta(seconds=5)
WEBHOOK = {
    "ref": REF,
    "endpoint_id": uuid7(),
    "delivery_id": uuid7(),
    "event": "message.read",
    "attempts": 2,
    "at": NOW,
}


def report(statement: Statement) -> Report:
    found = report_of(statement, statement_id=uuid7(), said_at=LATER)
    assert found is not None
    return found


def test_a_dispatch_tells_the_providers_id() -> None:
    fact = MessageDispatched(
        ref=REF, attempt=2, key_id="K1", dispatched_at=NOW, proof=Proof.ECHO, duplicate_possible=True
    )
    found = report(fact)
    assert (found.what, found.status, found.external_id, found.at) == ("dispatched", Status.DISPATCHED, "K1", NOW)
    assert found.detail == {"attempt": 2, "proof": "echo"}
    assert found.duplicate_possible


@pytest.mark.parametrize("status", [Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED])
def test_a_receipt_claims_its_status(status: Status) -> None:
    fact = {"ref": REF, "key_id": "K1", "status": status, "occurred_at": NOW}
    found = report(ReceiptRecorded.model_validate(fact))
    assert (found.what, found.status, found.external_id) == ("receipt", status, "K1")
    assert found.error_code == (ErrorCode.GATEWAY_REPORTED_ERROR if status is Status.FAILED else None)


def test_failures_claim_failed_with_their_code() -> None:
    failed = report(
        MessageDispatchFailed(ref=REF, attempt=1, error_code=ErrorCode.WHATSAPP_NOT_EXIST, detail="d", failed_at=NOW)
    )
    lost = report(MessageLost(ref=REF, error_code=ErrorCode.DELIVERY_TIMEOUT, lost_at=NOW))
    assert (failed.status, failed.error_code) == (Status.FAILED, ErrorCode.WHATSAPP_NOT_EXIST)
    assert (lost.status, lost.error_code) == (Status.FAILED, ErrorCode.DELIVERY_TIMEOUT)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (MessageDeferred(ref=REF, attempt=1, reason=DeferReason.RETRY, next_attempt_at=NOW), "deferred"),
        (MessageUncertain(ref=REF, attempt=1, reason="timeout", resolve_by=NOW), "uncertain"),
        (WebhookDelivered.model_validate({**WEBHOOK, "last_status": 200}), "webhook_delivered"),
        (WebhookExhausted.model_validate(WEBHOOK), "webhook_exhausted"),
    ],
)
def test_other_steps_claim_nothing(statement: Statement, what: str) -> None:
    found = report(statement)
    assert (found.what, found.status, found.at) == (what, None, LATER)
    assert "ref" not in found.detail


def test_what_is_not_about_a_messages_way_is_no_step() -> None:
    accepted = MessageAccepted(
        ref=REF,
        deliver_by=NOW,
        deliver_until=LATER,
        sealed="s",
        recipient_hash="0" * 64,
        text_hash="0" * 64,
        accepted_at=NOW,
    )
    assert report_of(accepted, statement_id=uuid7(), said_at=NOW) is None


IDS = tuple(uuid7() for _ in range(4))
CLAIMS = st.tuples(st.sampled_from(IDS), st.sampled_from([None, Status.SENT, Status.FAILED, Status.READ]))


def claim(message_id: UUID, status: Status | None) -> Report:
    ref = REF.model_copy(update={"message_id": message_id})
    return Report(statement_id=uuid7(), ref=ref, what="test", at=NOW, status=status)


@given(st.lists(CLAIMS, max_size=20))
def test_waves_hold_every_claim_once_lower_ranks_first_and_the_first_names_every_message(
    claims: list[tuple[UUID, Status | None]],
) -> None:
    reports = [claim(*each) for each in claims]
    found = list(waves(reports))
    claiming = [each for each in reports if each.status is not None]
    for wave in found:
        assert len({each.ref.message_id for each in wave}) == len(wave) > 0
    for message_id in IDS:
        own = [each.status for wave in found for each in wave if each.ref.message_id == message_id]
        expected = [each.status for each in claiming if each.ref.message_id == message_id]
        assert own == sorted(expected, key=lambda status: RANK[status] if status else -1)
    if claiming:
        assert {each.ref.message_id for each in found[0]} == {each.ref.message_id for each in claiming}
