"""Every step has a code and a sentence, and so has everything a message can wait for."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from api.messages.domain.details import Step, StoredMessage
from api.messages.domain.explanation import Explained, explain
from api.messages.domain.progress import report_of
from api.messages.domain.waiting import SENTENCES, WaitingFor, is_asked_about, waiting_for_receipt, waiting_of
from contracts.dispatch_questions import JobExplained, LaneCondition, MessageExplained
from contracts.errors import SENTENCES as FAILURES
from contracts.errors import ErrorCode
from contracts.facts import (
    MessageDeferred,
    MessageDispatchCanceled,
    MessageDispatched,
    MessageDispatchFailed,
    MessageLost,
    MessageUncertain,
    ReceiptRecorded,
    WebhookDelivered,
    WebhookExhausted,
)
from contracts.facts.fact import MessageFact
from contracts.facts.messages import DeferReason, Proof
from contracts.ids import uuid7
from contracts.status import FINAL, Status
from contracts.values import ConnectionState

from .people import NOW, REF

MESSAGE = StoredMessage(
    ref=REF,
    external_id=None,
    status=Status.QUEUED,
    version=1,
    origin="Loja",
    source_number=None,
    template_name=None,
    kind="text",
    labels=(),
    deliver_by=NOW,
    deliver_until=NOW + timedelta(hours=1),
    accepted_at=NOW,
    dispatched_at=None,
    sent_at=None,
    delivered_at=None,
    read_at=None,
    failed_at=None,
    canceled_at=None,
    error_code=None,
    duplicate_possible=False,
    recipient_hash="0" * 64,
    sealed=None,
)
HOOK: Mapping[str, object] = {"endpoint_id": uuid7(), "delivery_id": uuid7(), "event": "message.sent", "at": NOW}
FACTS: list[tuple[MessageFact, str, str]] = [
    *(
        (MessageDeferred(ref=REF, attempt=2, reason=reason, next_attempt_at=NOW), reason.value, part)
        for reason, part in (
            (DeferReason.NOT_DUE, "until 2025-06-02 12:00:00 UTC"),
            (DeferReason.RETRY, "Attempt 2 was certainly not sent"),
            (DeferReason.PACED, "turn"),
            (DeferReason.NUMBER_CLOSED, "not connected"),
            (DeferReason.PAUSED, "paused"),
        )
    ),
    (MessageUncertain(ref=REF, attempt=1, reason="TIMEOUT", resolve_by=NOW), "TIMEOUT", "proof is sought"),
    *(
        (MessageDispatched(ref=REF, attempt=1, key_id="K", dispatched_at=NOW, proof=proof), "DISPATCHED", part)
        for proof, part in (
            (Proof.RESPONSE, "gateway took"),
            (Proof.ECHO, "seen sending"),
            (Proof.LOOKUP, "found among"),
            (Proof.RECEIPT, "receipt proves"),
        )
    ),
    *(
        (
            ReceiptRecorded.model_validate({"ref": REF, "key_id": "K", "status": status, "occurred_at": NOW}),
            status.value,
            part,
        )
        for status, part in (
            (Status.SENT, "confirmed"),
            (Status.DELIVERED, "reached"),
            (Status.READ, "read"),
            (Status.FAILED, "error"),
        )
    ),
    (MessageLost(ref=REF, error_code=ErrorCode.DELIVERY_TIMEOUT, lost_at=NOW), "DELIVERY_TIMEOUT", "fell due"),
    (MessageDispatchCanceled(ref=REF, canceled_at=NOW), "CANCELED", "never be sent"),
    (WebhookDelivered(ref=REF, attempts=3, **HOOK), "WEBHOOK_DELIVERED", "`message.sent` at attempt 3"),  # type: ignore[arg-type]
    (WebhookExhausted(ref=REF, attempts=9, **HOOK), "WEBHOOK_EXHAUSTED", "in 9 attempts"),  # type: ignore[arg-type]
    *(
        (MessageDispatchFailed(ref=REF, attempt=1, error_code=code, failed_at=NOW), code.value, FAILURES[code])
        for code in ErrorCode
    ),
]


def explained(fact: MessageFact) -> Explained:
    report = report_of(fact, statement_id=uuid7(), said_at=NOW)
    assert report is not None
    steps = [Step(at=report.at, what=report.what, round=1, detail=report.detail)]
    return explain(MESSAGE, steps)[1]


@pytest.mark.parametrize(("fact", "code", "part"), FACTS, ids=lambda value: str(value)[:40])
def test_every_fact_becomes_a_code_and_a_sentence(fact: MessageFact, code: str, part: str) -> None:
    step = explained(fact)
    assert step.code == code
    assert part in step.sentence
    assert step.sentence.endswith(".")


def test_it_begins_with_the_acceptance_and_survives_what_it_does_not_know() -> None:
    assert explain(MESSAGE, [])[0].sentence == "Accepted, due at once."
    later = replace(MESSAGE, deliver_by=NOW + timedelta(hours=1))
    assert "2025-06-02 13:00:00 UTC" in explain(later, [])[0].sentence
    for what in ("deferred", "uncertain", "dispatched", "receipt", "dispatch_failed", "lost", "something_new"):
        assert explain(MESSAGE, [Step(at=NOW, what=what, round=1, detail={})])[1].sentence


def lane(**changes: object) -> LaneCondition:
    values = {"state": ConnectionState.OPEN, "paused": False, **changes}
    return LaneCondition(instance="loja", observed_at=NOW, in_flight=0, max_in_flight=1, **values)  # type: ignore[arg-type]


def job(state: str, *, attempt: int = 0) -> JobExplained:
    return JobExplained(
        state=state,
        attempt=attempt,
        due_at=NOW,
        deliver_until=NOW + timedelta(hours=1),
        resolve_by=NOW + timedelta(minutes=1),
        ahead=7,
        expected_at=NOW,
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (MessageExplained(lane=lane()), WaitingFor.DISPATCHER),
        (MessageExplained(job=job("SCHEDULED"), lane=lane()), WaitingFor.DELIVERY_TIME),
        (MessageExplained(job=job("SCHEDULED", attempt=1), lane=lane()), WaitingFor.RETRY_TIME),
        (MessageExplained(job=job("READY"), lane=lane()), WaitingFor.TURN),
        (MessageExplained(job=job("READY"), lane=lane(paused=True)), WaitingFor.NUMBER_RESUMED),
        (MessageExplained(job=job("READY"), lane=lane(state=ConnectionState.CLOSE)), WaitingFor.NUMBER_CONNECTION),
        (MessageExplained(job=job("READY")), WaitingFor.NUMBER_CONNECTION),
        (MessageExplained(job=job("IN_FLIGHT"), lane=lane()), WaitingFor.GATEWAY_ANSWER),
        (MessageExplained(job=job("UNCERTAIN"), lane=lane()), WaitingFor.PROOF),
        (MessageExplained(job=job("DISPATCHED"), lane=lane()), WaitingFor.NEWS),
        (MessageExplained(job=job("CANCELED"), lane=lane()), WaitingFor.NEWS),
    ],
)
def test_the_dispatchers_answer_says_what_a_message_waits_for(answer: MessageExplained, expected: WaitingFor) -> None:
    waiting = waiting_of(answer)
    assert waiting.what is expected
    assert (waiting.ahead == 7) is (expected is WaitingFor.TURN)


def test_only_a_queued_message_is_asked_about_and_a_final_one_waits_for_nothing() -> None:
    assert [status for status in Status if is_asked_about(status)] == [Status.QUEUED]
    assert {status for status in Status if waiting_for_receipt(status)} == {Status.DISPATCHED, Status.SENT}
    assert not {status for status in FINAL if waiting_for_receipt(status)}
    assert set(SENTENCES) == set(WaitingFor)
