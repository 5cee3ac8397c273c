"""Messages become jobs once, and whoever asks for one is told where it is."""

import asyncio
from datetime import timedelta

from chassis.telemetry.metrics import registry
from contracts.errors import ErrorCode
from contracts.facts import MessageDeferred, MessageDispatched, MessageDispatchFailed, MessageUncertain
from contracts.facts.messages import DeferReason, Proof
from contracts.values import Category
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

from .rig import PACED, Rig


async def test_redelivery_and_races_make_one_job_each(rig: Rig) -> None:
    messages = [rig.message(said=f"m{n}") for n in range(20)]
    batches = (rig.accept(*messages), rig.accept(*reversed(messages)), rig.accept(*messages, *messages))
    await asyncio.gather(*batches)
    [row] = await rig.rows("SELECT count(*) AS jobs FROM dispatcher.jobs")
    assert row.jobs == 20


async def test_a_repeat_changes_nothing_of_a_job_that_moved_on(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    await rig.accept(message)
    await rig.dispatch()
    before = await rig.job(message.ref)
    await rig.accept(message)
    assert await rig.job(message.ref) == before
    assert await rig.dispatch() == []


async def test_requeue_of_an_unknown_job_puts_it_to_work(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    await rig.requeue(message)
    assert [fact.reason for fact in await rig.said(MessageDeferred)] == [DeferReason.PACED]
    await rig.dispatch()
    assert len(rig.gateway.sent) == 1


async def test_requeue_of_an_unknown_job_that_may_have_been_sent_asks_first(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    await rig.requeue(message, possibly_sent=True)
    await rig.requeue(message, possibly_sent=True)
    assert await rig.dispatch() == []
    uncertain = await rig.said(MessageUncertain)
    assert [(fact.reason, fact.attempt) for fact in uncertain] == [("JOB_LOST", 1)] * 2
    await rig.echo("3EB0LOST")
    assert (await rig.job(message.ref)).key_id == "3EB0LOST"
    assert rig.gateway.sent == []


async def test_requeue_of_a_known_job_says_where_it_is(rig: Rig) -> None:
    await rig.open_lane()
    taken, refused, unknown = (rig.message(said=word) for word in ("taken", "refused", "unknown"))
    for message, answer in (
        (taken, Taken(key_id="K")),
        (refused, Refused(code=RefusalCode.WHATSAPP_NOT_EXIST)),
        (unknown, Unknown(reason=UnknownReason.TIMEOUT)),
    ):
        await rig.accept(message)
        rig.gateway.answers.append(answer)
        await rig.dispatch()
    for message in (taken, refused, unknown):
        await rig.requeue(message)
    dispatched = await rig.said(MessageDispatched)
    failed = await rig.said(MessageDispatchFailed)
    uncertain = await rig.said(MessageUncertain)
    assert [(one.ref, one.key_id, one.proof) for one in dispatched] == [(taken.ref, "K", Proof.RESPONSE)] * 2
    assert [(one.ref, one.error_code) for one in failed] == [(refused.ref, ErrorCode.WHATSAPP_NOT_EXIST)] * 2
    assert [(one.ref, one.resolve_by) for one in uncertain] == [(unknown.ref, uncertain[0].resolve_by)] * 2
    assert len(rig.gateway.sent) == 3


async def test_requeue_tells_why_a_job_waits(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    await rig.open_lane("paused", pacing=PACED, paused=True)
    await rig.configure("closed", pacing=PACED)
    not_due, closed, paused, homeless = (
        rig.message(due_in=60),
        rig.message(instance="closed"),
        rig.message(instance="paused"),
        rig.message(instance="nobody"),
    )
    retried, calling, paced = rig.message(category=Category.OTP), rig.message(), rig.message()
    await rig.accept(not_due, closed, paused, homeless, retried)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE, retry_after_seconds=30))
    await rig.dispatch()
    rig.now.pass_(10)
    await rig.accept(calling)
    assert len((await rig.claim()).attempts) == 1
    await rig.accept(paced)
    already = len(await rig.said(MessageDeferred))
    for message in (not_due, closed, paused, homeless, retried, calling, paced):
        await rig.requeue(message)
    said = (await rig.said(MessageDeferred))[already:]
    assert [(fact.reason, fact.detail) for fact in said] == [
        (DeferReason.NOT_DUE, "SCHEDULED"),
        (DeferReason.NUMBER_CLOSED, "READY"),
        (DeferReason.PAUSED, "READY"),
        (DeferReason.NUMBER_CLOSED, "SCHEDULED"),
        (DeferReason.RETRY, "SCHEDULED"),
        (DeferReason.PACED, "IN_FLIGHT"),
        (DeferReason.PACED, "READY"),
    ]
    assert said[0].next_attempt_at == not_due.deliver_by
    assert said[6].next_attempt_at is None


async def test_another_round_is_another_job(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    await rig.accept(message)
    await rig.dispatch()
    again = message.model_copy(update={"ref": message.ref.model_copy(update={"round": 2})})
    await rig.requeue(again)
    await rig.dispatch()
    assert [fact.ref.round for fact in await rig.said(MessageDispatched)] == [1, 2]


async def test_finished_jobs_and_old_echoes_are_forgotten_in_chunks(rig: Rig) -> None:
    await rig.open_lane()
    [done] = await rig.accept()
    await rig.dispatch()
    await rig.accept(due_in=864_000, said="later")
    await rig.echo("E")
    rig.now.pass_(timedelta(days=7).total_seconds() - 5)
    await rig.purge()
    assert (await rig.job(done)).state == "DISPATCHED"
    rig.now.pass_(10)
    assert await rig.purge() is False
    rows = await rig.rows("SELECT state FROM dispatcher.jobs")
    assert [row.state for row in rows] == ["SCHEDULED"]
    assert await rig.rows("SELECT 1 FROM dispatcher.attempts") == []
    assert await rig.rows("SELECT 1 FROM dispatcher.echoes") == []


async def test_unfinished_jobs_are_counted_by_state(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(said="uncertain")
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    await rig.accept(said="ready")
    await rig.accept(said="later", due_in=60)
    await rig.sample()
    counted = {
        state: registry.get_sample_value("pilot_dispatcher_jobs", {"state": state})
        for state in ("SCHEDULED", "READY", "IN_FLIGHT", "UNCERTAIN")
    }
    assert counted == {"SCHEDULED": 1, "READY": 1, "IN_FLIGHT": 0, "UNCERTAIN": 1}
