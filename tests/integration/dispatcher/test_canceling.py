"""A message is canceled and never sent, or it is sent and not canceled: whatever happens at the same time."""

import asyncio
import random
from datetime import timedelta
from uuid import UUID

import pytest

from contracts.dispatch_questions import CancelMessages, MessagesCanceled
from contracts.facts import MessageAccepted, MessageDispatchCanceled, MessageDispatched
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobState
from dispatcher.usecases.cancel_messages import CancelJobs
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused, Unknown, UnknownReason

from .rig import Rig


async def cancel(rig: Rig, *refs: MessageRef) -> MessagesCanceled:
    return await CancelJobs(database=rig.database, clock=rig.now)(CancelMessages(refs=refs))


def canceled_ids(answer: MessagesCanceled) -> set[UUID]:
    return {message.message_id for message in answer.canceled}


async def states(rig: Rig) -> dict[UUID, str]:
    rows = await rig.rows("SELECT message_id, state FROM dispatcher.jobs")
    return {row.message_id: row.state for row in rows}


async def test_a_scheduled_message_is_canceled_and_never_sent(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=3_600, window=7_200)
    answer = await cancel(rig, ref)
    assert canceled_ids(answer) == {ref.message_id}
    assert answer.canceled[0].canceled_at == rig.now()
    assert answer.kept == ()
    job = await rig.job(ref)
    assert (job.state, job.sealed, job.finished_at) == (JobState.CANCELED, None, rig.now())
    assert [fact.ref for fact in await rig.said(MessageDispatchCanceled)] == [ref]
    rig.now.pass_(3_700)
    assert await rig.dispatch() == []
    assert rig.gateway.sent == []


async def test_a_message_that_is_ready_is_canceled_too(rig: Rig) -> None:
    await rig.configure()
    [ref] = await rig.accept()
    assert canceled_ids(await cancel(rig, ref)) == {ref.message_id}
    await rig.open_lane(version=2)
    assert await rig.dispatch() == []


async def test_a_message_that_has_not_arrived_is_forestalled(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    assert canceled_ids(await cancel(rig, message.ref)) == {message.ref.message_id}
    await rig.accept(message)
    await rig.requeue(message)
    await rig.requeue(message, possibly_sent=True)
    assert await rig.dispatch() == []
    assert (await rig.job(message.ref)).state == JobState.CANCELED
    told = await rig.said(MessageDispatchCanceled)
    assert [fact.ref for fact in told] == [message.ref] * 3, "once for the cancellation, once for each question"
    assert len({fact.canceled_at for fact in told}) == 1


async def test_what_was_or_may_have_been_sent_is_kept(rig: Rig) -> None:
    await rig.open_lane()
    endings = {
        "taken": None,
        "refused": Refused(code=RefusalCode.WHATSAPP_NOT_EXIST),
        "unknown": Unknown(reason=UnknownReason.TIMEOUT),
    }
    kept = []
    for said, ending in endings.items():
        [ref] = await rig.accept(rig.message(said=said))
        if ending is not None:
            rig.gateway.answers.append(ending)
        await rig.dispatch()
        kept.append(ref)
    [in_flight] = await rig.accept(rig.message(said="calling"))
    await rig.claim()
    before = await states(rig)
    answer = await cancel(rig, *kept, in_flight)
    assert answer.canceled == ()
    assert set(answer.kept) == {ref.message_id for ref in (*kept, in_flight)}
    assert await states(rig) == before
    assert await rig.said(MessageDispatchCanceled) == []


async def test_a_message_whose_attempt_was_certainly_not_sent_is_canceled(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE))
    await rig.dispatch()
    assert (await rig.job(ref)).state in (JobState.SCHEDULED, JobState.READY)
    assert canceled_ids(await cancel(rig, ref)) == {ref.message_id}


async def test_a_resend_of_what_may_have_been_sent_is_kept(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    rig.gateway.is_mute = True
    rig.now.pass_(rig.rules.resolve_within.total_seconds() + 60)
    await rig.resolve()
    assert (await rig.job(ref)).state == JobState.SCHEDULED
    answer = await cancel(rig, ref)
    assert answer.kept == (ref.message_id,)
    assert (await rig.job(ref)).state == JobState.SCHEDULED


async def test_canceling_twice_is_canceling_once(rig: Rig) -> None:
    [ref] = await rig.accept(due_in=60)
    first = await cancel(rig, ref, ref)
    rig.now.pass_(5)
    assert await cancel(rig, ref) == first
    assert len(await rig.said(MessageDispatchCanceled)) == 1


async def test_one_answer_tells_every_message_apart(rig: Rig) -> None:
    await rig.open_lane()
    [sent] = await rig.accept(rig.message(said="sent"))
    await rig.dispatch()
    [scheduled] = await rig.accept(due_in=60)
    unseen = rig.message().ref
    answer = await cancel(rig, sent, scheduled, unseen)
    assert canceled_ids(answer) == {scheduled.message_id, unseen.message_id}
    assert answer.kept == (sent.message_id,)


@pytest.mark.parametrize("seed", range(12))
async def test_canceling_against_the_claim(build: object, seed: int) -> None:
    """Two replicas claim while two clients cancel: every message has exactly one of the two ends."""
    dice = random.Random(seed)
    rigs = [await build() for _ in range(2)]  # type: ignore[operator]
    one = rigs[0]
    await one.open_lane()
    messages = [one.message(said=f"race {number}") for number in range(40)]
    await one.accept(*messages)
    refs = [message.ref for message in messages]
    dice.shuffle(refs)

    async def claim_all(rig: Rig) -> None:
        while await rig.dispatch(capacity=dice.randint(1, 5)):
            pass

    async def cancel_all(order: list[MessageRef]) -> set[UUID]:
        done: set[UUID] = set()
        for start in range(0, len(order), 5):
            done |= canceled_ids(await cancel(dice.choice(rigs), *order[start : start + 5]))
        return done

    results = await asyncio.gather(
        claim_all(rigs[0]), claim_all(rigs[1]), cancel_all(refs), cancel_all(list(reversed(refs)))
    )
    await claim_all(one)
    canceled = (results[2] or set()) | (results[3] or set())
    texts = {message.ref.message_id: f"race {number}" for number, message in enumerate(messages)}
    sent = [outbound.text for outbound in one.gateway.sent]
    assert len(sent) == len(set(sent)), "sent twice"
    assert set(sent).isdisjoint(texts[message_id] for message_id in canceled), "canceled and sent"
    assert set(sent) == {texts[ref.message_id] for ref in refs if ref.message_id not in canceled}
    assert {fact.ref.message_id for fact in await one.said(MessageDispatchCanceled)} == canceled
    assert {fact.ref.message_id for fact in await one.said(MessageDispatched)} == set(texts) - canceled


async def test_canceling_against_the_arrival(build: object) -> None:
    """A message that arrives while it is canceled is canceled, whoever comes first."""
    rigs = [await build() for _ in range(2)]  # type: ignore[operator]
    messages: list[MessageAccepted] = [rigs[0].message(said=f"arrival {number}") for number in range(60)]

    async def arrive() -> None:
        for start in range(0, len(messages), 3):
            await rigs[0].accept(*messages[start : start + 3])

    async def cancel_each() -> set[UUID]:
        done: set[UUID] = set()
        for start in range(0, len(messages), 3):
            done |= canceled_ids(await cancel(rigs[1], *(message.ref for message in messages[start : start + 3])))
        return done

    _, canceled = await asyncio.gather(arrive(), cancel_each())
    assert canceled == {message.ref.message_id for message in messages}
    assert set((await states(rigs[0])).values()) == {"CANCELED"}


async def test_a_canceled_job_is_forgotten_in_time(rig: Rig) -> None:
    [ref] = await rig.accept(due_in=60)
    await cancel(rig, ref)
    rig.now.pass_(timedelta(days=8).total_seconds())
    await rig.purge()
    assert await states(rig) == {}
