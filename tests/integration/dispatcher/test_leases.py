"""Leases: renewed while a call runs, taken away from the dead, and fencing off whoever comes too late."""

from contracts.facts import MessageDispatched, MessageUncertain
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.verdicts import Dispatched
from dispatcher.store.settling import Settlement
from dispatcher.usecases.settle_attempts import SettleAttempts
from gateways.port import Taken, Unknown, UnknownReason

from .rig import Rig


async def test_a_lease_that_ran_out_makes_the_job_uncertain_and_never_ready(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    await rig.claim()
    rig.now.pass_(60)
    assert await rig.expire_leases() == 0, "it still holds at its last instant"
    rig.now.pass_(0.001)
    assert await rig.expire_leases() == 1
    job = await rig.job(ref)
    [fact] = await rig.said(MessageUncertain)
    assert (job.state, job.reason, fact.reason) == ("UNCERTAIN", "LEASE_LOST", "LEASE_LOST")
    assert (await rig.lane()).in_flight == 0
    assert await rig.dispatch() == []
    [attempt] = await rig.rows("SELECT outcome, reason FROM dispatcher.attempts")
    assert tuple(attempt) == ("UNKNOWN", "LEASE_LOST")


async def test_a_lost_lease_is_resolved_by_an_echo_that_came_long_before(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    await rig.claim()
    rig.now.pass_(0.2)
    await rig.echo("3EB0GONE")
    rig.now.pass_(61)
    await rig.expire_leases()
    await rig.resolve()
    assert (await rig.job(ref)).key_id == "3EB0GONE"


async def test_renewed_leases_do_not_run_out(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    [attempt] = (await rig.claim()).attempts
    with rig.book.holding(attempt, rig.book.monotonic()):
        for _ in range(5):
            rig.now.pass_(40)
            assert await rig.renew_leases() == 1
            assert await rig.expire_leases() == 0
        assert rig.book.seconds_left(attempt) > 59
    assert (await rig.job(ref)).state == "IN_FLIGHT"


async def test_a_stale_lease_settles_nothing_but_its_key_becomes_evidence(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    [attempt] = (await rig.claim()).attempts
    rig.now.pass_(61)
    await rig.expire_leases()
    before = await rig.job(ref)
    rig.gateway.answers.append(Taken(key_id="3EB0STALE"))
    await rig.carry_out(attempt)
    assert await rig.job(ref) == before
    assert (await rig.lane()).in_flight == 0
    assert await rig.said(MessageDispatched) == []
    await rig.resolve()
    assert (await rig.job(ref)).key_id == "3EB0STALE"


async def two_attempts(rig: Rig) -> tuple[Attempt, Attempt]:
    """Of one message: the first lost its lease and was given up by policy, the second is under way."""
    await rig.open_lane()
    await rig.accept()
    [stale] = (await rig.claim()).attempts
    rig.now.pass_(61)
    await rig.expire_leases()
    rig.gateway.is_mute = True
    rig.now.pass_(900)
    await rig.resolve()
    [current] = (await rig.claim()).attempts
    return stale, current


async def test_a_stale_attempt_cannot_disturb_the_next_one(rig: Rig) -> None:
    stale, current = await two_attempts(rig)
    assert (current.attempt, current.ref) == (2, stale.ref)
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.carry_out(stale)
    job = await rig.job(stale.ref)
    assert (job.state, job.attempt, job.lease_token) == ("IN_FLIGHT", 2, current.lease_token)
    await rig.carry_out(current)
    assert (await rig.job(stale.ref)).state == "DISPATCHED"
    assert (await rig.lane()).in_flight == 0


async def test_a_stale_answer_beside_the_current_one_is_only_evidence(rig: Rig) -> None:
    stale, current = await two_attempts(rig)
    both = [
        Settlement(attempt=stale, verdict=Dispatched(key_id="3EB0STALE"), ended_at=rig.now()),
        Settlement(attempt=current, verdict=Dispatched(key_id="3EB0CURRENT"), ended_at=rig.now()),
    ]
    async with rig.database.transaction() as tx:
        assert await SettleAttempts(dice=lambda: 0.5)(tx, both) == [False, True]
    assert [fact.key_id for fact in await rig.said(MessageDispatched)] == ["3EB0CURRENT"]
    assert (await rig.job(stale.ref)).key_id == "3EB0CURRENT"
    assert await rig.rows("SELECT 1 FROM dispatcher.attempts WHERE attempt = 1 AND outcome <> 'UNKNOWN'") == []
