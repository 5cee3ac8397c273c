"""A dispatcher whose tables came from a dump notices it, trusts nothing unfinished in them, and sends nothing twice."""

import pytest

from contracts.facts import MessageDispatched, MessageReturned
from contracts.facts.messages import Proof
from contracts.values import Category

from .fleet import Replica
from .rig import RECIPIENT, Rig

FROM_A_DUMP = "UPDATE dispatcher.heartbeat SET beat_at = beat_at"
"""As `pg_restore` does it: the row is as it was, and another transaction wrote it."""


async def restored(rig: Rig) -> Replica:
    """The fleet was at work, its tables came from a dump, and a replica starts."""
    await rig.write(FROM_A_DUMP)
    rig.now.pass_(5)
    replica = Replica(rig)
    await replica.start()
    return replica


async def test_unfinished_jobs_are_given_back_with_what_they_were(rig: Rig) -> None:
    await rig.open_lane()
    await Replica(rig).start()
    due, later = rig.message(said="due"), rig.message(said="later", due_in=3_600, category=Category.OTP)
    await rig.accept(due, later)
    replica = await restored(rig)
    assert await rig.rows("SELECT 1 FROM dispatcher.jobs") == []
    told = {fact.ref.message_id: fact for fact in await rig.said(MessageReturned)}
    assert {key: fact.possibly_sent for key, fact in told.items()} == {
        due.ref.message_id: True,
        later.ref.message_id: False,
    }
    for one in (due, later):
        back = told[one.ref.message_id].accepted
        assert back.model_copy(update={"accepted_at": one.accepted_at}) == one
    assert replica.outages.restored_at == rig.now()
    assert replica.outages.settled.is_set()


async def test_a_call_of_the_time_of_the_dump_holds_no_place(rig: Rig) -> None:
    await rig.open_lane()
    await Replica(rig).start()
    [ref] = await rig.accept(rig.message())
    assert len((await rig.claim(1)).attempts) == 1
    await restored(rig)
    assert (await rig.lane()).in_flight == 0
    [back] = await rig.said(MessageReturned)
    assert (back.ref, back.possibly_sent) == (ref, True)
    assert await rig.rows("SELECT 1 FROM dispatcher.attempts") == []


async def test_what_has_ended_stays(rig: Rig) -> None:
    await rig.open_lane()
    await Replica(rig).start()
    [ref] = await rig.accept(rig.message())
    await rig.dispatch()
    await restored(rig)
    assert (await rig.job(ref)).state == "DISPATCHED"
    assert await rig.said(MessageReturned) == []


async def test_a_plain_restart_gives_nothing_back(rig: Rig) -> None:
    await rig.open_lane()
    await Replica(rig).start()
    [ref] = await rig.accept(rig.message())
    rig.now.pass_(300)
    replica = Replica(rig)
    await replica.start()
    assert (await rig.job(ref)).state == "READY"
    assert replica.outages.restored_at is None


async def test_it_is_noticed_once(rig: Rig) -> None:
    await rig.open_lane()
    await Replica(rig).start()
    first = await restored(rig)
    [ref] = await rig.accept(rig.message())
    rig.now.pass_(5)
    second = Replica(rig)
    await second.start()
    assert second.outages.restored_at == first.outages.restored_at
    assert (await rig.job(ref)).state == "READY"


async def test_what_the_ledger_wants_back_is_looked_for_before_it_is_sent(rig: Rig) -> None:
    """Both came after the dump and have no job; one of them had left, which only the gateway knows."""
    await rig.open_lane()
    await Replica(rig).start()
    left, stayed = rig.message(said="left"), rig.message(said="stayed")
    rig.gateway.store(RECIPIENT, "left", "K-LEFT")
    replica = await restored(rig)
    for one in (left, stayed):
        await replica.requeue(one)
        assert (await rig.job(one.ref)).state == "UNCERTAIN"
    rig.now.pass_(70)
    await rig.echo("K-ANY", said="something else")
    while await rig.resolve():
        pass
    await rig.dispatch()
    assert [outbound.text for outbound in rig.gateway.sent] == ["stayed"]
    proofs = {fact.ref: fact.proof for fact in await rig.said(MessageDispatched)}
    assert proofs == {left.ref: Proof.LOOKUP, stayed.ref: Proof.RESPONSE}
    assert not (await rig.job(stayed.ref)).duplicate_possible


@pytest.mark.parametrize("due_in", [0, 60])
async def test_what_could_not_have_left_before_the_restore_is_fresh(rig: Rig, due_in: int) -> None:
    """It was accepted, or falls due, after it."""
    await rig.open_lane()
    await Replica(rig).start()
    early = rig.message(due_in=60)
    replica = await restored(rig)
    rig.now.pass_(1)
    message = early if due_in else rig.message()
    await replica.requeue(message)
    job = await rig.job(message.ref)
    assert (job.state, job.suspected_since) == ("SCHEDULED" if due_in else "READY", None)
