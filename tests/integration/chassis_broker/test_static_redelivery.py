"""A delivery on a real broker: what is buried, what is tried again, and what a fault elsewhere costs."""

import asyncio
import itertools
from typing import Any

import pytest

from chassis.database import UnavailableError
from chassis.deliveries import Heard
from chassis.redelivery import Redelivery
from chassis.testing.waiting import eventually

from .place import Listener, Pinged, Place, death_of, number_of


async def test_a_handler_hears_statement_and_envelope(listener: Listener, place: Place) -> None:
    heard: list[Heard] = []

    async def handler(one: Heard) -> None:
        heard.append(one)

    await listener.consuming(handler)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    time = "2026-01-02T03:04:05.678901+00:00"
    await place.publish(listener.queue, 7, headers={"traceparent": trace, "cloudEvents:time": time})
    await eventually(lambda: len(heard) == 1, "hearing")
    (one,) = heard
    assert one.statement == Pinged(number=7)
    assert one.type == "test.pinged.v1"
    assert one.traceparent == trace
    assert one.occurred_at.isoformat() == time
    assert one.redelivered is False


@pytest.mark.parametrize(
    "broken",
    [
        {"body": b"{not json"},
        {"body": b'{"number": "many"}'},
        {"type": "test.unknown.v1"},
        {"type": None},
        {"message_id": "seven"},
        {"timestamp": None},
    ],
    ids=str,
)
async def test_an_unreadable_message_is_buried_at_once(
    listener: Listener, place: Place, broken: dict[str, Any]
) -> None:
    heard: list[Heard] = []

    async def handler(one: Heard) -> None:
        heard.append(one)

    await listener.consuming(handler)
    await place.publish(listener.queue, 1, **broken)
    dead = await place.dead_letter()
    death = death_of(dead)
    assert death["reason"] == "rejected"
    assert death["count"] == 1
    assert dead.routing_key == listener.queue.name
    assert dead.headers.get("x-delivery-count", 0) == 0
    assert heard == []


async def test_a_failing_delivery_is_buried_at_the_limit_and_the_others_are_handled(
    listener: Listener, place: Place
) -> None:
    place.delivery_limit = 3
    counted: dict[int, int] = {}

    async def handler(one: Heard) -> None:
        number = number_of(one)
        counted[number] = counted.get(number, 0) + 1
        if number == 13:
            raise KeyError("a defect")

    await listener.consuming(handler)
    await place.publish(listener.queue, 12, 13, 14)
    dead = await place.dead_letter()
    assert death_of(dead)["reason"] == "delivery_limit"
    assert Pinged.model_validate_json(dead.body).number == 13
    assert counted == {12: 1, 13: 4, 14: 1}
    assert await place.depth(listener.queue) == 0


async def test_a_failing_delivery_waits_longer_each_time(listener: Listener, place: Place) -> None:
    place.delivery_limit = 4
    at: list[float] = []

    async def handler(_: Heard) -> None:
        at.append(asyncio.get_running_loop().time())
        raise KeyError("a defect")

    await listener.consuming(handler, redelivery=Redelivery(pause_first_seconds=0.05, pause_max_seconds=0.2))
    await place.publish(listener.queue, 1)
    await place.dead_letter()
    gaps = [later - earlier for earlier, later in itertools.pairwise(at)]
    assert len(gaps) == 4
    assert all(gap >= pause for gap, pause in zip(gaps, (0.05, 0.1, 0.2, 0.2), strict=True))


@pytest.mark.parametrize("error", [UnavailableError("down"), ConnectionResetError(), TimeoutError()], ids=repr)
async def test_trouble_elsewhere_spends_no_delivery_and_heals(
    listener: Listener, place: Place, error: Exception
) -> None:
    place.delivery_limit = 2
    attempts: list[bool] = []
    handled: set[int] = set()
    is_down = True

    async def handler(one: Heard) -> None:
        attempts.append(one.redelivered)
        if is_down:
            raise error
        handled.add(number_of(one))

    await listener.consuming(handler, prefetch=2)
    await place.publish(listener.queue, *range(5))
    await eventually(lambda: len(attempts) >= 12, "attempts beyond the delivery limit")
    await place.holds(listener.queue, 3)
    is_down = False
    await eventually(lambda: handled == set(range(5)), "all handled")
    assert not any(attempts), "no delivery was returned"


async def test_a_bare_cancellation_counts_as_a_lost_connection(listener: Listener, place: Place) -> None:
    attempts = 0

    async def handler(_: Heard) -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            raise asyncio.CancelledError

    await listener.consuming(handler)
    await place.publish(listener.queue, 1)
    await eventually(lambda: attempts == 3, "tried again in place")


async def test_patience_ends_and_the_message_returns(listener: Listener, place: Place) -> None:
    redelivered: list[bool] = []

    async def handler(one: Heard) -> None:
        redelivered.append(one.redelivered)
        raise UnavailableError("down")

    impatient = Redelivery(wait_first_seconds=0.02, wait_max_seconds=0.02, patience_seconds=0.1)
    await listener.consuming(handler, redelivery=impatient)
    await place.publish(listener.queue, 1)
    await eventually(lambda: True in redelivered, "delivered again")
    assert redelivered.index(True) >= 2


async def test_waiting_handlers_are_interrupted_by_a_shutdown_and_their_messages_return(
    listener: Listener, place: Place
) -> None:
    attempted = asyncio.Event()

    async def handler(_: Heard) -> None:
        attempted.set()
        raise UnavailableError("down")

    broker = await listener.consuming(handler, redelivery=Redelivery(wait_first_seconds=60, wait_max_seconds=60))
    await place.publish(listener.queue, 1, 2, 3)
    await attempted.wait()
    async with asyncio.timeout(5):
        await broker.stop()
    await place.holds(listener.queue, 3)
