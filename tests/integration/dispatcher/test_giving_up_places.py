"""A call that is not answered lets the others of its lane pass, is never made again, and frees its place once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from chassis.database import Database
from chassis.testing.waiting import WAIT_SECONDS, eventually
from contracts.facts import MessageDispatched
from contracts.values import ConnectionState
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.rules import PLACES_GIVEN_UP_MAX, Rules
from dispatcher.domain.verdicts import Dispatched, Verdict
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.give_up_place import GiveUpPlace
from gateways.port import Answer, NotSent, NotSentReason, Outbound, Taken

from .process import free_port
from .rig import FAST, Rig
from .sealing import KEYS

ONE_AT_A_TIME = FAST.model_copy(update={"max_in_flight": 1})
HASTY = Rules(patience=timedelta(milliseconds=20))


@dataclass
class SlowGateway:
    """Takes every message, and keeps its answer to itself until told to give it."""

    calls: list[Outbound] = field(default_factory=list)
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, outbound: Outbound) -> Answer:
        self.calls.append(outbound)
        await self.answers.wait()
        return Taken(key_id="3EB0LATE")

    def call_seconds_max(self, outbound: Outbound) -> float:
        return 27.0


@dataclass
class Replica:
    """A rig whose calls lose their patience, and who was woken by it."""

    rig: Rig
    woken: int = 0

    def give_up_place(self) -> GiveUpPlace:
        return GiveUpPlace(database=self.rig.database, wake=self.wake, clock=self.rig.now)

    def wake(self) -> None:
        self.woken += 1

    async def claim_one(self) -> Attempt:
        [attempt] = (await self.rig.claim()).attempts
        return attempt

    def call(
        self,
        attempt: Attempt,
        gateway: SlowGateway,
        *,
        give_up_place: Callable[[Attempt], Awaitable[bool]] | None = None,
    ) -> asyncio.Task[Verdict]:
        rig = self.rig
        carry_out = CarryOut(
            sender=gateway,
            keys=KEYS,
            book=rig.book,
            rules=HASTY,
            settling=rig.settling,
            dice=rig.roll,
            give_up_place=give_up_place or self.give_up_place(),
        )
        return asyncio.create_task(carry_out(attempt, rig.book.monotonic()))

    async def in_flight(self) -> int:
        return int((await self.rig.lane()).in_flight)


@pytest.fixture
async def replica(rig: Rig) -> Replica:
    """One place, in an open lane."""
    await rig.open_lane(pacing=ONE_AT_A_TIME)
    return Replica(rig)


async def test_the_next_message_leaves_while_the_first_is_unanswered(rig: Rig, replica: Replica) -> None:
    [first] = await rig.accept()
    gateway = SlowGateway()
    unanswered = replica.call(await replica.claim_one(), gateway)
    [second] = await rig.accept()

    async def place_is_free() -> bool:
        return await replica.in_flight() == 0

    await eventually(place_is_free, "the place of the unanswered call")
    assert [type(verdict) for verdict in await rig.dispatch()] == [Dispatched]
    assert [(await rig.job(ref)).state for ref in (first, second)] == ["IN_FLIGHT", "DISPATCHED"]
    gateway.answers.set()
    assert isinstance(await unanswered, Dispatched)
    assert replica.woken == 1
    job = await rig.job(first)
    assert (job.state, job.key_id, job.attempt, job.duplicate_possible) == ("DISPATCHED", "3EB0LATE", 1, False)
    assert len(gateway.calls) == 1, "it was never called again"
    assert len(await rig.said(MessageDispatched)) == 2
    assert await replica.in_flight() == 0


async def test_an_answered_call_gives_nothing_up(rig: Rig, replica: Replica) -> None:
    [ref] = await rig.accept()
    gateway = SlowGateway()
    gateway.answers.set()
    await replica.call(await replica.claim_one(), gateway)
    assert not (await rig.job(ref)).place_given_up
    assert (replica.woken, await replica.in_flight()) == (0, 0)


async def test_a_place_is_given_up_once_and_the_late_answer_frees_no_other(rig: Rig, replica: Replica) -> None:
    await rig.accept()
    first = await replica.claim_one()
    assert await replica.give_up_place()(first)
    assert not await replica.give_up_place()(first)
    await rig.accept()
    second = await replica.claim_one()
    assert await replica.in_flight() == 1
    await rig.carry_out(first)
    assert await replica.in_flight() == 1, "the second call still holds the only place"
    await rig.accept()
    assert (await rig.claim()).attempts == []
    await rig.carry_out(second)
    assert await replica.in_flight() == 0


async def test_answers_in_one_batch_free_only_the_places_that_were_held(rig: Rig, replica: Replica) -> None:
    await rig.accept()
    first = await replica.claim_one()
    assert await replica.give_up_place()(first)
    await rig.accept()
    second = await replica.claim_one()
    await rig.write("UPDATE dispatcher.lanes SET in_flight = 2")
    await asyncio.gather(rig.carry_out(first), rig.carry_out(second))
    assert await replica.in_flight() == 1


async def test_a_lost_lease_frees_no_place_that_was_given_up(rig: Rig, replica: Replica) -> None:
    [ref] = await rig.accept()
    first = await replica.claim_one()
    assert await replica.give_up_place()(first)
    rig.now.pass_(30)
    await rig.accept()
    await replica.claim_one()
    rig.now.pass_(31)
    assert await rig.expire_leases() == 1
    assert (await rig.job(ref)).state == "UNCERTAIN"
    assert await replica.in_flight() == 1, "the second call still holds the only place"
    assert not await replica.give_up_place()(first), "nobody's attempt any more"
    rig.now.pass_(30)
    assert await rig.expire_leases() == 1
    assert await replica.in_flight() == 0


async def test_the_next_attempt_holds_a_place_again(rig: Rig, replica: Replica) -> None:
    await rig.accept()
    first = await replica.claim_one()
    assert await replica.give_up_place()(first)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE))
    await rig.carry_out(first)
    rig.now.pass_(120)
    again = await replica.claim_one()
    assert (again.attempt, await replica.in_flight()) == (2, 1)
    assert not await replica.give_up_place()(first), "an old attempt cannot give up the place of the next"
    await rig.carry_out(again)
    assert await replica.in_flight() == 0


async def test_a_lane_lets_few_calls_pass_at_a_time(rig: Rig, replica: Replica) -> None:
    """Against a gateway that answers nothing at all."""
    await rig.accept(*(rig.message() for _ in range(PLACES_GIVEN_UP_MAX + 2)))
    unanswered = []
    for _ in range(PLACES_GIVEN_UP_MAX):
        unanswered.append(await replica.claim_one())
        assert await replica.give_up_place()(unanswered[-1])
    last = await replica.claim_one()
    assert not await replica.give_up_place()(last)
    assert (await rig.claim()).attempts == []
    await rig.carry_out(unanswered[0])
    assert await replica.give_up_place()(last), "one was answered, so another may pass"
    assert len((await rig.claim()).attempts) == 1


async def test_places_given_up_at_once_are_counted_one_after_the_other(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(*(rig.message() for _ in range(8)))
    attempts = (await rig.claim()).attempts
    given = await asyncio.gather(*(Replica(rig).give_up_place()(attempt) for attempt in attempts))
    assert sum(given) == PLACES_GIVEN_UP_MAX
    assert (await rig.lane()).in_flight == len(attempts) - PLACES_GIVEN_UP_MAX


async def test_another_lanes_unanswered_calls_do_not_count(rig: Rig, replica: Replica) -> None:
    await rig.open_lane("outra")
    await rig.accept(*(rig.message(instance="outra") for _ in range(PLACES_GIVEN_UP_MAX)))
    for attempt in (await rig.claim()).attempts:
        assert await replica.give_up_place()(attempt)
    await rig.accept()
    assert await replica.give_up_place()(await replica.claim_one())


async def test_a_lane_that_is_tried_out_keeps_its_place(rig: Rig, replica: Replica) -> None:
    await rig.accept(*(rig.message() for _ in range(2)))
    await rig.write("UPDATE dispatcher.lanes SET state = 'CLOSE', suspect = true, trial = true")
    trial = await replica.claim_one()
    assert not await replica.give_up_place()(trial)
    assert (await rig.lane()).in_flight == 1
    assert (await rig.claim()).attempts == []


async def test_a_lane_that_only_says_it_is_open_keeps_its_place(rig: Rig, replica: Replica) -> None:
    await rig.accept(*(rig.message() for _ in range(2)))
    await rig.write("UPDATE dispatcher.lanes SET probe_failures = 1")
    assert not await replica.give_up_place()(await replica.claim_one())
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now())
    assert (await rig.claim()).attempts == []


async def test_a_call_whose_lane_cannot_be_told_is_settled_all_the_same(rig: Rig, replica: Replica) -> None:
    [ref] = await rig.accept()
    attempt, gateway, asked = await replica.claim_one(), SlowGateway(), asyncio.Event()
    away = Database(f"postgresql://nobody@127.0.0.1:{free_port()}/away", pool_size=1, name="away")
    give_up = GiveUpPlace(database=away, wake=replica.wake, clock=rig.now)

    async def in_vain(attempt: Attempt) -> bool:
        assert not await give_up(attempt)
        asked.set()
        return False

    unanswered = replica.call(attempt, gateway, give_up_place=in_vain)
    async with asyncio.timeout(WAIT_SECONDS):
        await asked.wait()
    assert await replica.in_flight() == 1
    gateway.answers.set()
    assert isinstance(await unanswered, Dispatched)
    await away.stop()
    assert ((await rig.job(ref)).state, await replica.in_flight(), replica.woken) == ("DISPATCHED", 0, 0)
