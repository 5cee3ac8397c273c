"""Every row of the table answer → job → lane, on a real database."""

from datetime import timedelta

import pytest

from contracts.errors import ErrorCode
from contracts.facts import (
    MessageDeferred,
    MessageDispatched,
    MessageDispatchFailed,
    MessageUncertain,
    NumberConnectionChanged,
)
from contracts.facts.messages import DeferReason, Proof
from contracts.values import Category, ConnectionState
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

from .rig import RECIPIENT, TEXT, Rig


async def test_taken_is_dispatched_and_its_content_wiped(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(Taken(key_id="3EB0A"))
    await rig.dispatch()
    job = await rig.job(ref)
    assert (job.state, job.key_id, job.proof, job.sealed, job.attempt) == ("DISPATCHED", "3EB0A", "response", None, 1)
    [fact] = await rig.said(MessageDispatched)
    assert (fact.ref, fact.key_id, fact.proof, fact.attempt) == (ref, "3EB0A", Proof.RESPONSE, 1)
    assert not fact.duplicate_possible
    [outbound] = rig.gateway.sent
    assert (outbound.recipient, outbound.text, outbound.access.instance) == (RECIPIENT, TEXT, "loja")
    [attempt] = await rig.rows("SELECT * FROM dispatcher.attempts")
    assert (attempt.outcome, attempt.attempt) == ("TAKEN", 1)
    assert attempt.finished_at is not None
    assert (await rig.lane()).in_flight == 0


@pytest.mark.parametrize(
    ("code", "error", "closes"),
    [
        (RefusalCode.WHATSAPP_NOT_EXIST, ErrorCode.WHATSAPP_NOT_EXIST, False),
        (RefusalCode.GATEWAY_REFUSED, ErrorCode.GATEWAY_REFUSED, False),
        (RefusalCode.INSTANCE_NOT_FOUND, ErrorCode.LINKED_WHATSAPP_INSTANCE_NOT_FOUND, True),
        (RefusalCode.GATEWAY_AUTH_FAILED, ErrorCode.GATEWAY_AUTH_FAILED, True),
    ],
)
async def test_refused_fails_for_good_and_closes_the_lane_where_all_would_fail(
    rig: Rig, code: RefusalCode, error: ErrorCode, closes: bool
) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(Refused(code=code, detail="because"))
    await rig.dispatch()
    job, lane = await rig.job(ref), await rig.lane()
    assert (job.state, job.error_code, job.sealed) == ("FAILED", error, None)
    [fact] = await rig.said(MessageDispatchFailed)
    assert (fact.error_code, fact.detail, fact.attempt) == (error, "because", 1)
    changes = await rig.said(NumberConnectionChanged)
    assert [(one.state, one.reason) for one in changes] == ([(ConnectionState.CLOSE, error)] if closes else [])
    assert lane.state == ("CLOSE" if closes else "OPEN")
    assert (lane.probe_at is not None) is closes


@pytest.mark.parametrize("reason", [NotSentReason.UNREACHABLE, NotSentReason.RATE_LIMITED, NotSentReason.GATEWAY_ERROR])
async def test_not_sent_waits_with_full_jitter_and_the_lane_goes_on(rig: Rig, reason: NotSentReason) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(NotSent(reason=reason))
    await rig.dispatch()
    job = await rig.job(ref)
    [fact] = await rig.said(MessageDeferred)
    assert (job.state, job.reason, job.attempt) == ("SCHEDULED", reason, 1)
    assert job.sealed is not None
    assert (fact.reason, fact.detail, fact.next_attempt_at) == (DeferReason.RETRY, reason, job.due_at)
    assert timedelta(seconds=1) <= job.due_at - rig.now() < timedelta(seconds=2), "half of the 2 s bound, then the call"
    assert await rig.dispatch() == [], "not before its time"
    rig.now.pass_(2)
    await rig.dispatch()
    assert (await rig.job(ref)).state == "DISPATCHED"
    assert (await rig.job(ref)).attempt == 2


async def test_retry_after_is_honoured(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(NotSent(reason=NotSentReason.RATE_LIMITED, retry_after_seconds=45))
    await rig.dispatch()
    assert (await rig.job(ref)).due_at - rig.now() >= timedelta(seconds=45)


async def test_a_retry_that_cannot_fit_fails_now(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(window=40)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.RATE_LIMITED, retry_after_seconds=45))
    await rig.dispatch()
    [fact] = await rig.said(MessageDispatchFailed)
    assert (await rig.job(ref)).state == "FAILED"
    assert (fact.error_code, fact.attempt) == (ErrorCode.EXPIRED_AFTER_ATTEMPTS, 1)


async def test_unknown_is_uncertain_and_the_lane_goes_on(rig: Rig) -> None:
    await rig.open_lane()
    [first] = await rig.accept(said="one")
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    [second] = await rig.accept(said="two")
    await rig.dispatch()
    job = await rig.job(first)
    [fact] = await rig.said(MessageUncertain)
    assert (job.state, job.sealed is not None) == ("UNCERTAIN", True)
    assert (fact.reason, fact.resolve_by) == (UnknownReason.TIMEOUT, job.resolve_by)
    assert job.resolve_by == rig.now() + rig.rules.resolve_within
    assert job.resolve_after == rig.now() + rig.rules.absence_believed_after
    assert (await rig.job(second)).state == "DISPATCHED"
    assert len(rig.gateway.sent) == 2


async def test_an_otp_is_resolved_while_a_resend_is_still_of_use(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(category=Category.OTP, window=120)
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    assert (await rig.job(ref)).resolve_by == rig.now() + timedelta(seconds=110)


async def test_a_sender_that_breaks_its_word_leaves_the_attempt_uncertain(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()

    def burst(_: object) -> None:
        raise RuntimeError("a bug")

    rig.gateway.before_answer = burst
    await rig.dispatch()
    assert (await rig.job(ref)).state == "UNCERTAIN"


async def test_content_that_cannot_be_opened_is_never_sent(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    await rig.write("UPDATE dispatcher.jobs SET sealed = 'AQJrMQ'")
    await rig.dispatch()
    job = await rig.job(ref)
    assert (job.state, job.reason) == ("SCHEDULED", "SEAL_BROKEN")
    assert rig.gateway.sent == []


async def test_no_personal_data_is_stored_or_said_in_the_clear(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept()
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    for table in ("jobs", "attempts", "lanes", "outbox", "echoes"):
        for row in await rig.rows(f"SELECT to_jsonb(t)::text AS line FROM dispatcher.{table} AS t"):
            assert RECIPIENT not in row.line
            assert "pedido" not in row.line
    for row in await rig.rows("SELECT body FROM dispatcher.outbox"):
        assert RECIPIENT.encode() not in bytes(row.body)
