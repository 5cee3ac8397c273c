"""The two doors to READY and what they leave behind: tags, floors, lanes that wake, and nothing lost on the way."""

import random
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError

from contracts.dispatch_questions import CancelMessages
from contracts.values import Category, Environment, MessageRef
from dispatcher.domain.fairness import TICK, returning_tag, stream_index, tags_for
from dispatcher.usecases.cancel_messages import CancelJobs
from gateways.port import NotSent, NotSentReason

from .crowd import crowd, make_room
from .rig import FAST, PACED, Rig

ONE_BY_ONE = FAST.model_copy(update={"max_in_flight": 1})
COLD = stream_index(3, Environment.LIVE, cold=True)


async def finish_of(rig: Rig, ref: MessageRef) -> float | None:
    rows = await rig.rows("SELECT finish FROM dispatcher.flows WHERE tenant_id = :tenant", tenant=ref.tenant_id)
    return rows[0].finish if rows else None


@pytest.mark.parametrize("is_scheduled", [False, True])
async def test_both_doors_tag_as_the_pure_function_does(rig: Rig, is_scheduled: bool) -> None:
    dice = random.Random(7)
    await rig.open_lane(pacing=ONE_BY_ONE)
    tenants = [uuid4() for _ in range(3)]
    finish: dict[Any, float | None] = dict.fromkeys(tenants)
    for _ in range(5):
        virtual = (await rig.lane()).virtual[3]
        batch = {tenant: [dice.randint(1, 9) for _ in range(dice.randint(0, 4))] for tenant in tenants}
        messages = [
            rig.message(tenant_id=tenant, weight=weight, due_in=5 if is_scheduled else 0)
            for tenant, weights in batch.items()
            for weight in weights
        ]
        if messages:
            await rig.accept(*messages)
        rig.now.pass_(5)
        await rig.promote()
        for tenant, weights in batch.items():
            own = sorted((one for one in messages if one.ref.tenant_id == tenant), key=lambda one: one.ref.message_id)
            wanted = tags_for(
                virtual=virtual, finish=finish[tenant], weights=[message.tenant_weight for message in own]
            )
            assert [(await rig.job(message.ref)).tag for message in own] == list(wanted.starts)
            if weights:
                finish[tenant] = await finish_of(rig, own[0].ref)
                assert finish[tenant] == pytest.approx(wanted.finish)
        await rig.claim_only()
        await make_room(rig, {"loja": 1})


async def test_what_comes_back_is_first_in_line_and_pays_once(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    tenant = uuid4()
    await rig.accept(*(rig.message(said=f"m{n}", to=f"55479911100{n:02}", tenant_id=tenant) for n in range(5)))
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE, retry_after_seconds=30))
    [first] = (await rig.claim()).attempts
    await rig.carry_out(first)
    before, paid = await rig.job(first.ref), await finish_of(rig, first.ref)
    assert (before.state, before.attempt, paid) == ("SCHEDULED", 1, 5.0)
    await rig.dispatch()
    rig.now.pass_(31)
    await rig.promote()
    job, lane = await rig.job(first.ref), await rig.lane()
    assert lane.floors[COLD] > before.tag
    assert job.tag == returning_tag(tag=before.tag, floor=lane.floors[COLD])
    assert await finish_of(rig, first.ref) == paid
    [attempt] = (await rig.claim()).attempts
    assert attempt.ref == first.ref


async def test_redelivery_costs_a_tenant_nothing(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    await rig.accept(message, message)
    paid = await finish_of(rig, message.ref)
    await rig.accept(message)
    assert await finish_of(rig, message.ref) == paid == 1.0


async def test_what_comes_before_its_number_waits_for_it(rig: Rig) -> None:
    [now, later] = await rig.accept(rig.message(), rig.message(due_in=60))
    await rig.promote()
    job = await rig.job(now)
    assert (job.state, job.parked, job.tag) == ("SCHEDULED", True, None)
    assert not (await rig.job(later)).parked
    rig.now.pass_(60)
    await rig.promote()
    assert (await rig.job(later)).parked, "it came due without a lane"
    await rig.open_lane()
    assert {attempt.ref for attempt in (await rig.claim()).attempts} == {now, later}


async def test_parked_jobs_do_not_stand_in_the_way_of_others(rig: Rig) -> None:
    await crowd(rig, 1_200, instance="nobody", due_in=1)
    await rig.open_lane()
    [ref] = await rig.accept(due_in=2)
    rig.now.pass_(3)
    assert [attempt.ref for attempt in (await rig.claim()).attempts] == [ref]


async def test_nothing_is_ready_without_a_tag(rig: Rig) -> None:
    [ref] = await rig.accept(due_in=60)
    with pytest.raises(IntegrityError, match="ready_is_tagged"):
        await rig.write("UPDATE dispatcher.jobs SET state = 'READY' WHERE message_id = :id", id=ref.message_id)


async def test_a_recipient_is_cold_until_something_reached_him(rig: Rig) -> None:
    await rig.open_lane()
    [first, same] = await rig.accept(rig.message(said="one"), rig.message(said="two"))
    assert ((await rig.job(first)).cold, (await rig.job(same)).cold) == (True, True)
    [attempt] = (await rig.claim(1)).attempts
    await rig.carry_out(attempt)
    [contact] = await rig.rows("SELECT * FROM dispatcher.contacts")
    job = await rig.job(attempt.ref)
    assert (contact.recipient_hash, contact.last_text_hash) == (job.recipient_hash, job.text_hash)
    [third] = await rig.accept(said="three")
    assert not (await rig.job(third)).cold


async def test_evidence_makes_a_contact_too(rig: Rig) -> None:
    from .test_evidence import uncertain

    await rig.open_lane()
    ref = await uncertain(rig)
    assert await rig.rows("SELECT 1 FROM dispatcher.contacts") == []
    await rig.echo("3EB0ECHO")
    [contact] = await rig.rows("SELECT last_text_hash FROM dispatcher.contacts")
    assert contact.last_text_hash == (await rig.job(ref)).text_hash


async def test_a_stray_is_brought_back(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    refs = sorted(await crowd(rig, 5), key=lambda ref: ref.message_id)
    await rig.claim()
    await make_room(rig, {"loja": 1})
    await rig.claim()
    await make_room(rig, {"loja": 1})
    await rig.write("UPDATE dispatcher.jobs SET tag = -1 WHERE message_id = :id", id=refs[4].message_id)
    for _ in range(2):
        await rig.claim()
        await make_room(rig, {"loja": 1})
    assert (await rig.claim()).attempts == [], "below the floor nobody looks"
    assert await rig.sweep() == 1
    [attempt] = (await rig.claim()).attempts
    assert attempt.ref == refs[4]
    assert await rig.sweep() == 0


async def test_a_job_that_is_locked_is_neither_waited_for_nor_lost(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    refs = sorted(await crowd(rig, 3), key=lambda ref: ref.message_id)
    async with rig.database.transaction() as other:
        locked = text("SELECT FROM dispatcher.jobs WHERE message_id = :id FOR UPDATE")
        await other.execute(locked, {"id": refs[0].message_id})
        claimed = await rig.claim_only()
        assert claimed.attempts == []
        assert claimed.seconds_until_work == pytest.approx(0)
    assert [attempt.ref for attempt in (await rig.claim_only()).attempts] == [refs[0]]


async def test_a_pass_of_an_idle_system_is_one_statement(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    for n in range(30):
        await rig.open_lane(f"lane-{n}", pacing=PACED)
    await rig.accept(category=Category.MARKETING, due_in=600)
    await rig.claim()
    statements: list[str] = []
    engine = rig.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    claimed = await rig.claim_only()
    assert (claimed.attempts, claimed.seconds_until_work) == ([], None)
    assert len(statements) == 1


async def test_a_lane_is_looked_at_only_when_it_may_send(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    assert (await rig.claim()).seconds_until_work is None
    assert (await rig.lane()).wake_at is None, "nothing waits"
    await rig.accept(rig.message(), rig.message())
    assert (await rig.lane()).wake_at == rig.now()
    [attempt] = (await rig.claim()).attempts
    assert (await rig.lane()).wake_at is None, "there is no room"
    await rig.accept()
    assert (await rig.lane()).wake_at is None, "a message makes no room"
    await rig.carry_out(attempt)
    assert (await rig.lane()).wake_at == rig.now(), "a call ended"
    assert (await rig.claim()).seconds_until_work == pytest.approx(8), "the gap"
    assert (await rig.lane()).wake_at > rig.now()


@pytest.mark.parametrize("how", ["expired", "canceled", "suppressed"])
async def test_a_turn_that_was_never_had_is_given_back(rig: Rig, how: str) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE, platform_default=True)
    await rig.accept()
    await rig.dispatch()
    tenant = uuid4()
    stays, goes = rig.message(tenant_id=tenant, said="stays"), rig.message(tenant_id=tenant, window=10, weight=4)
    await rig.accept(stays)
    before = await finish_of(rig, stays.ref)
    await rig.accept(goes)
    assert before is not None
    assert await finish_of(rig, goes.ref) == pytest.approx(before + 0.25)
    match how:
        case "expired":
            rig.now.pass_(10)
            await rig.fail_expired()
        case "canceled":
            await CancelJobs(database=rig.database, clock=rig.now)(CancelMessages(refs=(goes.ref,)))
        case _:
            await rig.claim_only()
            await make_room(rig, {"loja": 1})
            await rig.claim_only()
    assert (await rig.job(goes.ref)).state == ("CANCELED" if how == "canceled" else "FAILED")
    assert await finish_of(rig, goes.ref) == pytest.approx(before)


async def test_what_had_its_turn_is_not_paid_back(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(window=60)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE, retry_after_seconds=30))
    await rig.dispatch()
    rig.now.pass_(31)
    await rig.promote()
    paid = await finish_of(rig, ref)
    rig.now.pass_(30)
    await rig.fail_expired()
    assert (await rig.job(ref)).error_code == "EXPIRED_AFTER_ATTEMPTS"
    assert await finish_of(rig, ref) == paid == 1.0


async def test_finish_tags_that_say_nothing_are_forgotten(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    [gone] = await rig.accept(said="gone")
    await rig.dispatch()
    waits = (await crowd(rig, 3))[0]
    for _ in range(2):
        await rig.claim_only()
        await make_room(rig, {"loja": 1})
    await rig.sweep()
    assert await finish_of(rig, waits) == pytest.approx(3.0 + TICK)
    assert await finish_of(rig, gone) is None
