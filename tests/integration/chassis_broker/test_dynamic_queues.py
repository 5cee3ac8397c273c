"""Queues that come and go: batches, isolation of a poisoned item, and return after every loss."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from chassis.database import UnavailableError
from chassis.deliveries import Heard
from chassis.redelivery import Redelivery
from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire
from contracts.topology import Queue

from .conftest import AbsentHost
from .place import OpenConsumers, Pinged, Place, all_well, death_of, number_of


class Recorder:
    """A batch handler that remembers what it was given."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, list[int]]] = []

    async def handle(self, queue_name: str, batch: Sequence[Heard]) -> None:
        self.batches.append((queue_name, [number_of(one) for one in batch]))

    @property
    def numbers(self) -> list[int]:
        return [number for _, numbers in self.batches for number in numbers]

    @property
    def queues(self) -> set[str]:
        return {name for name, _ in self.batches}


@pytest.fixture
async def open_consumers(place: Place) -> AsyncIterator[OpenConsumers]:
    await place.declare()
    opening = OpenConsumers(place)
    yield opening
    await opening.close()


async def test_sixty_queues_are_consumed_and_survive_a_broken_connection(
    open_consumers: OpenConsumers, place: Place, wire: Wire
) -> None:
    recorder = Recorder()
    consumers = await open_consumers(recorder.handle, url=wire.url)
    await all_well(consumers)
    queues = [place.queue(f"dynamic-{index}") for index in range(60)]
    await asyncio.gather(*(consumers.add(queue) for queue in queues))
    await eventually(lambda: len(consumers.consumed()) == 60, "all consumed")
    assert consumers.problem() is None
    await asyncio.gather(*(place.publish(queue, index) for index, queue in enumerate(queues)))
    await eventually(lambda: sorted(recorder.numbers) == list(range(60)), "one from each")
    assert recorder.queues == {queue.name for queue in queues}

    wire.cut()
    wire.mend()
    await asyncio.gather(*(place.publish(queue, 60 + index) for index, queue in enumerate(queues)))
    await eventually(lambda: set(recorder.numbers) == set(range(120)), "one more from each")
    await eventually(lambda: consumers.problem() is None, "all consumed again")


async def test_deliveries_come_in_batches_and_are_acknowledged_together(
    open_consumers: OpenConsumers, place: Place
) -> None:
    recorder = Recorder()
    queue = place.queue()
    await place.declare(queue)
    await place.publish(queue, *range(300))
    consumers = await open_consumers(recorder.handle, batch_size=50, prefetch=50, linger_ms=200)
    await all_well(consumers)
    await consumers.add(queue)
    await eventually(lambda: len(recorder.numbers) == 300, "all")
    assert sorted(recorder.numbers) == list(range(300))
    assert max(len(numbers) for _, numbers in recorder.batches) == 50
    assert len(recorder.batches) <= 10
    await consumers.stop()
    await place.holds(queue, 0)


async def test_adding_again_changes_nothing_and_removing_finishes_first(
    open_consumers: OpenConsumers, place: Place
) -> None:
    started, gate = asyncio.Event(), asyncio.Event()
    finished: list[int] = []

    async def handler(_: str, batch: Sequence[Heard]) -> None:
        started.set()
        await gate.wait()
        finished.extend(number_of(one) for one in batch)

    consumers = await open_consumers(handler, linger_ms=0)
    await all_well(consumers)
    queue = place.queue()
    await consumers.add(queue)
    assert await consumers.add(queue) is True
    await place.publish(queue, 1)
    await started.wait()
    removing = asyncio.create_task(consumers.remove(queue.name))
    await place.round_trips(queue)
    await place.publish(queue, 2)
    gate.set()
    await removing
    assert finished == [1]
    await place.holds(queue, 1)
    assert consumers.problem() is None
    assert await consumers.add(queue) is True
    await eventually(lambda: finished == [1, 2], "consumed again")


async def test_a_poisoned_item_is_buried_alone(open_consumers: OpenConsumers, place: Place) -> None:
    place.delivery_limit = 2
    handled: list[int] = []
    alone = 0

    async def handler(_: str, batch: Sequence[Heard]) -> None:
        nonlocal alone
        numbers = [number_of(one) for one in batch]
        alone += numbers == [13]
        if 13 in numbers:
            raise KeyError("a defect")
        handled.extend(numbers)

    queue = place.queue()
    await place.declare(queue)
    await place.publish(queue, *range(30))
    consumers = await open_consumers(handler, batch_size=30, linger_ms=100)
    await all_well(consumers)
    await consumers.add(queue)
    dead = await place.dead_letter()
    assert Pinged.model_validate_json(dead.body).number == 13
    assert death_of(dead)["reason"] == "delivery_limit"
    assert sorted(handled) == [number for number in range(30) if number != 13]
    assert alone == 3
    await consumers.stop()
    await place.holds(queue, 0)


async def test_a_pausing_item_delays_nobody_and_is_not_acknowledged_by_others(
    open_consumers: OpenConsumers, place: Place
) -> None:
    handled: list[int] = []
    is_broken = True

    async def handler(_: str, batch: Sequence[Heard]) -> None:
        numbers = [number_of(one) for one in batch]
        if is_broken and 0 in numbers:
            raise KeyError("a defect")
        handled.extend(numbers)

    queue = place.queue()
    consumers = await open_consumers(
        handler, prefetch=10, redelivery=Redelivery(pause_first_seconds=60, pause_max_seconds=60)
    )
    await all_well(consumers)
    await consumers.add(queue)
    await place.publish(queue, 0)
    for number in range(1, 100):
        await place.publish(queue, number)
    await eventually(lambda: sorted(handled) == list(range(1, 100)), "the others")
    is_broken = False
    await consumers.stop()
    await place.holds(queue, 1)
    again = await open_consumers(handler)
    await all_well(again)
    await again.add(queue)
    await eventually(lambda: 0 in handled, "the paused one")


async def test_an_unreadable_item_is_buried_at_once_among_good_ones(
    open_consumers: OpenConsumers, place: Place
) -> None:
    recorder = Recorder()
    queue = place.queue()
    await place.declare(queue)
    await place.publish(queue, 1, 2)
    await place.publish(queue, 3, body=b"{")
    await place.publish(queue, 4)
    consumers = await open_consumers(recorder.handle, linger_ms=100)
    await all_well(consumers)
    await consumers.add(queue)
    dead = await place.dead_letter()
    assert dead.body == b"{"
    assert death_of(dead)["reason"] == "rejected"
    await eventually(lambda: sorted(recorder.numbers) == [1, 2, 4], "the good ones")


async def test_trouble_elsewhere_keeps_the_batch_and_heals(open_consumers: OpenConsumers, place: Place) -> None:
    place.delivery_limit = 2
    redelivered: list[bool] = []
    healed: list[bool] = []
    is_down = True

    async def handler(_: str, batch: Sequence[Heard]) -> None:
        redelivered.extend(one.redelivered for one in batch)
        if is_down:
            raise UnavailableError("down")
        healed.append(True)

    queue = place.queue()
    consumers = await open_consumers(handler)
    await all_well(consumers)
    await consumers.add(queue)
    await place.publish(queue, 1)
    await eventually(lambda: len(redelivered) > 5, "attempts beyond the delivery limit")
    is_down = False
    await eventually(lambda: bool(healed), "handled")
    await consumers.stop()
    await place.holds(queue, 0)
    assert not any(redelivered)


async def test_a_vanished_queue_returns_and_disturbs_no_other(open_consumers: OpenConsumers, place: Place) -> None:
    recorder = Recorder()
    consumers = await open_consumers(recorder.handle)
    await all_well(consumers)
    vanishing, steady = place.queue("vanishing"), place.queue("steady")
    await consumers.add(vanishing)
    await consumers.add(steady)
    await place.channel.queue_delete(vanishing.name)
    await eventually(lambda: consumers.consumed() == {steady.name}, "noticing")
    await place.publish(steady, 1)
    await eventually(lambda: recorder.numbers == [1], "the steady one")
    await eventually(lambda: vanishing.name in consumers.consumed(), "declared again")
    await place.publish(vanishing, 2)
    await eventually(lambda: recorder.numbers == [1, 2], "the vanished one")


async def test_a_queue_that_cannot_be_declared_stops_no_other(open_consumers: OpenConsumers, place: Place) -> None:
    recorder = Recorder()
    wrong, right = place.queue("wrong"), place.queue("right")
    await place.channel.declare_queue(wrong.name, durable=True)  # classic: cannot become a quorum queue
    consumers = await open_consumers(recorder.handle)
    await all_well(consumers)
    adding = asyncio.create_task(consumers.add(wrong))
    assert await consumers.add(right) is True
    await place.publish(right, 1)
    await eventually(lambda: recorder.numbers == [1], "the right one")
    assert "1 queues not consumed" in (consumers.problem() or "")
    await place.channel.queue_delete(wrong.name)
    assert await adding is True


async def test_queues_may_be_added_before_there_is_a_broker(
    open_consumers: OpenConsumers, place: Place, absent_host: AbsentHost
) -> None:
    recorder = Recorder()
    consumers = await open_consumers(recorder.handle, url=absent_host.url)
    queue = place.queue("free-standing")
    assert await consumers.add(Queue(queue.name)) is False
    assert consumers.problem() is not None
    absent_host.create()
    await eventually(lambda: consumers.consumed() == {queue.name}, "consumed")


async def test_stopping_before_ever_being_connected_is_immediate(
    open_consumers: OpenConsumers, place: Place, absent_host: AbsentHost
) -> None:
    consumers = await open_consumers(Recorder().handle, url=absent_host.url)
    await consumers.add(place.queue())
    async with asyncio.timeout(2):
        await consumers.stop()
