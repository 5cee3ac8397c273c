"""A service's consumers on a real broker: how they begin, stop, and return after every loss."""

import asyncio
from functools import partial

from chassis.broker import Broker
from chassis.deliveries import Delivery, Heard
from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire

from .conftest import AbsentHost
from .place import Listener, Place, all_well, decode, ignore, number_of


async def test_consuming_stops_first_and_what_is_in_flight_is_finished(listener: Listener, place: Place) -> None:
    started: list[int] = []
    finished: list[int] = []
    gate = asyncio.Event()

    async def handler(one: Heard) -> None:
        started.append(number_of(one))
        await gate.wait()
        finished.append(number_of(one))

    broker = await listener.consuming(handler, prefetch=4)
    await place.publish(listener.queue, *range(20))
    await eventually(lambda: len(started) == 4, "a full window")
    stopping = asyncio.create_task(broker.stop())
    await place.round_trips(listener.queue)
    gate.set()
    await stopping
    assert sorted(finished) == sorted(started)
    assert len(started) == 4, "nothing was delivered after the cancellation"
    await place.holds(listener.queue, 16)

    redelivered: list[bool] = []

    async def second(one: Heard) -> None:
        redelivered.append(one.redelivered)

    await listener.consuming(second)
    await eventually(lambda: len(redelivered) == 16, "the rest")
    assert not any(redelivered)


async def test_consumers_return_after_their_connection_broke(listener: Listener, place: Place, wire: Wire) -> None:
    numbers: list[int] = []

    async def handler(one: Heard) -> None:
        numbers.append(number_of(one))

    broker = await listener.consuming(handler, url=wire.url)
    await place.publish(listener.queue, 1)
    await eventually(lambda: numbers == [1], "the first")
    wire.cut()
    wire.mend()
    await place.publish(listener.queue, 2)
    await eventually(lambda: 2 in numbers, "the second")
    assert broker.problem() is None


async def test_nothing_is_lost_when_connections_break_under_load(listener: Listener, place: Place, wire: Wire) -> None:
    handled: set[int] = set()

    async def handler(one: Heard) -> None:
        await asyncio.sleep(0.005)
        handled.add(number_of(one))

    broker = await listener.consuming(handler, url=wire.url)
    for first in (0, 500, 1000):
        numbers = range(first, first + 500)
        publishing = asyncio.create_task(place.publish(listener.queue, *numbers))
        await eventually(partial(is_progressing, broker, handled, first), "progress")
        wire.cut()
        wire.mend()
        await publishing
    await eventually(lambda: handled == set(range(1500)), "all handled")
    await place.holds(listener.queue, 0)
    await place.holds(place.dead_queue, 0)


def is_progressing(broker: Broker, handled: set[int], beyond: int) -> bool:
    return len(handled) > beyond and broker.problem() is None


async def test_a_deleted_queue_is_declared_and_consumed_again(listener: Listener, place: Place) -> None:
    numbers: list[int] = []

    async def handler(one: Heard) -> None:
        numbers.append(number_of(one))

    broker = await listener.consuming(handler)
    await place.channel.queue_delete(listener.queue.name)
    await eventually(lambda: broker.problem() is not None, "noticing")
    await all_well(broker)
    await place.publish(listener.queue, 3)
    await eventually(lambda: numbers == [3], "hearing again")


async def test_a_service_may_start_before_its_broker(listener: Listener, place: Place, absent_host: AbsentHost) -> None:
    broker = await listener.open(ignore, url=absent_host.url)
    await eventually(lambda: "not connected yet" not in (broker.problem() or ""), "a first failure")
    absent_host.create()
    await all_well(broker)


async def test_stopping_before_ever_being_connected_is_immediate(listener: Listener, absent_host: AbsentHost) -> None:
    broker = await listener.open(ignore, url=absent_host.url)
    async with asyncio.timeout(2):
        await broker.stop()


async def test_a_reachable_broker_that_never_works_is_fatal(listener: Listener, place: Place) -> None:
    reasons: list[str] = []
    await place.channel.declare_queue(listener.queue.name, durable=True)  # classic: cannot become a quorum queue
    await listener.open(ignore, on_fatal=reasons.append, give_up_after_seconds=0.5)
    await eventually(lambda: len(reasons) == 1, "giving up")
    assert "reachable" in reasons[0]


async def test_an_absent_broker_is_never_fatal(listener: Listener, place: Place) -> None:
    reasons: list[str] = []
    broker = await listener.open(
        ignore, url="amqp://guest:guest@127.0.0.1:1/x", on_fatal=reasons.append, give_up_after_seconds=0.2
    )
    failures: set[str] = set()
    began = asyncio.get_running_loop().time()

    def observed() -> bool:
        failures.add(broker.problem() or "")
        return asyncio.get_running_loop().time() - began > 1.0

    await eventually(observed, "a second")
    assert reasons == []
    assert any("refused" in failure.lower() or "Connection" in failure for failure in failures)


async def test_dead_letters_can_be_heard_unread(listener: Listener, place: Place) -> None:
    heard: list[Delivery] = []

    async def take(delivery: Delivery) -> None:
        heard.append(delivery)

    broker = Broker(place.url, service="undertaker", topology=place.topology(listener.queue), decode=decode)
    broker.hear(listener.queue, ignore)
    broker.hear_raw(place.dead_queue, take, prefetch=1)
    await broker.start()
    await all_well(broker)
    await place.publish(listener.queue, 1, body=b"\xff", message_id="odd")
    await eventually(lambda: len(heard) == 1, "the dead letter")
    await broker.stop()
    assert heard[0].body == b"\xff"
    assert heard[0].message_id == "odd"
    assert heard[0].routing_key == listener.queue.name
    assert heard[0].headers["x-death"][0]["reason"] == "rejected"
