"""A service's static queues on a real broker: what is lost, what is buried, what comes back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from chassis.broker import Broker
from chassis.database import UnavailableError
from chassis.deliveries import Delivery, Heard
from chassis.redelivery import Redelivery

QUICK = Redelivery(wait_first_seconds=0.02, wait_max_seconds=0.05, pause_first_seconds=0.01, pause_max_seconds=0.02)

Handler = Callable[[Heard], Awaitable[None]]


class Listener:
    """Opens brokers for one test and stops them at its end."""

    def __init__(self, place) -> None:
        self.place = place
        self.queue = place.queue()
        self._brokers: list[Broker] = []

    async def open(self, handler: Handler, *, prefetch: int = 20, url: str | None = None, **options) -> Broker:
        options = {"redelivery": QUICK, "service": f"svc-{self.place.mark}"} | options
        broker = Broker(
            url or self.place.url, topology=self.place.topology(self.queue), decode=self.place.decode, **options
        )
        broker.hear(self.queue, handler, prefetch=prefetch)
        self._brokers.append(broker)
        await broker.start()
        return broker

    async def consuming(self, handler: Handler, **options) -> Broker:
        broker = await self.open(handler, **options)
        await self.place.eventually(lambda: broker.problem() is None, "consuming")
        return broker

    async def close(self) -> None:
        for broker in self._brokers:
            await broker.stop()


@pytest.fixture
async def listener(place) -> AsyncIterator[Listener]:
    listener = Listener(place)
    yield listener
    await listener.close()


async def test_a_handler_hears_statement_and_envelope(listener, place):
    heard: list[Heard] = []

    async def handler(one: Heard) -> None:
        heard.append(one)

    await listener.consuming(handler)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    time = "2026-01-02T03:04:05.678901+00:00"
    await place.publish(listener.queue, 7, headers={"traceparent": trace, "cloudEvents:time": time})
    await place.eventually(lambda: len(heard) == 1, "hearing")
    (one,) = heard
    assert one.statement == place.statement(number=7)
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
async def test_an_unreadable_message_is_buried_at_once(listener, place, broken):
    heard: list[Heard] = []

    async def handler(one: Heard) -> None:
        heard.append(one)

    await listener.consuming(handler)
    await place.publish(listener.queue, 1, **broken)
    dead = await place.dead_letter()
    (death,) = dead.headers["x-death"]
    assert death["reason"] == "rejected"
    assert death["count"] == 1
    assert dead.routing_key == listener.queue.name
    assert dead.headers.get("x-delivery-count", 0) == 0
    assert heard == []


async def test_a_failing_delivery_is_buried_at_the_limit_and_the_others_are_handled(listener, place):
    place.delivery_limit = 3
    counted: dict[int, int] = {}

    async def handler(one: Heard) -> None:
        number = one.statement.number
        counted[number] = counted.get(number, 0) + 1
        if number == 13:
            raise KeyError("a defect")

    await listener.consuming(handler)
    await place.publish(listener.queue, 12, 13, 14)
    dead = await place.dead_letter()
    assert dead.headers["x-death"][0]["reason"] == "delivery_limit"
    assert place.statement.model_validate_json(dead.body).number == 13
    assert counted == {12: 1, 13: 4, 14: 1}
    assert await place.depth(listener.queue) == 0


async def test_a_failing_delivery_waits_longer_each_time(listener, place):
    place.delivery_limit = 4
    at: list[float] = []

    async def handler(_: Heard) -> None:
        at.append(asyncio.get_running_loop().time())
        raise KeyError("a defect")

    await listener.consuming(handler, redelivery=Redelivery(pause_first_seconds=0.05, pause_max_seconds=0.2))
    await place.publish(listener.queue, 1)
    await place.dead_letter()
    gaps = [later - earlier for earlier, later in zip(at, at[1:], strict=False)]
    assert len(gaps) == 4
    assert all(gap >= pause for gap, pause in zip(gaps, (0.05, 0.1, 0.2, 0.2), strict=True))


@pytest.mark.parametrize("error", [UnavailableError("down"), ConnectionResetError(), TimeoutError()], ids=repr)
async def test_trouble_elsewhere_spends_no_delivery_and_heals(listener, place, error):
    place.delivery_limit = 2
    attempts: list[bool] = []
    handled: set[int] = set()
    is_down = True

    async def handler(one: Heard) -> None:
        attempts.append(one.redelivered)
        if is_down:
            raise error
        handled.add(one.statement.number)

    await listener.consuming(handler, prefetch=2)
    await place.publish(listener.queue, *range(5))
    await place.eventually(lambda: len(attempts) >= 12, "attempts beyond the delivery limit")
    await place.holds(listener.queue, 3)
    is_down = False
    await place.eventually(lambda: handled == set(range(5)), "all handled")
    assert not any(attempts), "no delivery was returned"


async def test_a_bare_cancellation_counts_as_a_lost_connection(listener, place):
    attempts = 0

    async def handler(_: Heard) -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            raise asyncio.CancelledError

    await listener.consuming(handler)
    await place.publish(listener.queue, 1)
    await place.eventually(lambda: attempts == 3, "tried again in place")


async def test_patience_ends_and_the_message_returns(listener, place):
    redelivered: list[bool] = []

    async def handler(one: Heard) -> None:
        redelivered.append(one.redelivered)
        raise UnavailableError("down")

    impatient = Redelivery(wait_first_seconds=0.02, wait_max_seconds=0.02, patience_seconds=0.1)
    await listener.consuming(handler, redelivery=impatient)
    await place.publish(listener.queue, 1)
    await place.eventually(lambda: True in redelivered, "delivered again")
    assert redelivered.index(True) >= 2


async def test_waiting_handlers_are_interrupted_by_a_shutdown_and_their_messages_return(listener, place):
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


async def test_consuming_stops_first_and_what_is_in_flight_is_finished(listener, place):
    started: list[int] = []
    finished: list[int] = []
    gate = asyncio.Event()

    async def handler(one: Heard) -> None:
        started.append(one.statement.number)
        await gate.wait()
        finished.append(one.statement.number)

    broker = await listener.consuming(handler, prefetch=4)
    await place.publish(listener.queue, *range(20))
    await place.eventually(lambda: len(started) == 4, "a full window")
    stopping = asyncio.create_task(broker.stop())
    for _ in range(3):  # round trips through the same broker: the cancellation needs one
        await place.depth(listener.queue)
    gate.set()
    await stopping
    assert sorted(finished) == sorted(started)
    assert len(started) == 4, "nothing was delivered after the cancellation"
    await place.holds(listener.queue, 16)

    redelivered: list[bool] = []

    async def second(one: Heard) -> None:
        redelivered.append(one.redelivered)

    await listener.consuming(second)
    await place.eventually(lambda: len(redelivered) == 16, "the rest")
    assert not any(redelivered)


async def test_consumers_return_after_their_connection_broke(listener, place, wire):
    numbers: list[int] = []

    async def handler(one: Heard) -> None:
        numbers.append(one.statement.number)

    broker = await listener.consuming(handler, url=wire.url)
    await place.publish(listener.queue, 1)
    await place.eventually(lambda: numbers == [1], "the first")
    await wire.cut()
    await place.publish(listener.queue, 2)
    await place.eventually(lambda: 2 in numbers, "the second")
    assert broker.problem() is None


async def test_nothing_is_lost_when_connections_break_under_load(listener, place, wire):
    handled: set[int] = set()

    async def handler(one: Heard) -> None:
        await asyncio.sleep(0.005)
        handled.add(one.statement.number)

    await listener.consuming(handler, url=wire.url)
    await place.publish(listener.queue, *range(1500))
    for share in (200, 700):
        await place.eventually(lambda share=share: len(handled) > share, "progress")
        await wire.cut()
    await place.eventually(lambda: handled == set(range(1500)), "all handled")
    await place.holds(listener.queue, 0)
    await place.holds(place.dead_queue, 0)


async def test_a_deleted_queue_is_declared_and_consumed_again(listener, place):
    numbers: list[int] = []

    async def handler(one: Heard) -> None:
        numbers.append(one.statement.number)

    broker = await listener.consuming(handler)
    await place.channel.queue_delete(listener.queue.name)
    await place.eventually(lambda: broker.problem() is not None, "noticing")
    await place.eventually(lambda: broker.problem() is None, "consuming again")
    await place.publish(listener.queue, 3)
    await place.eventually(lambda: numbers == [3], "hearing again")


async def test_a_service_may_start_before_its_broker(listener, place, new_host):
    absent = new_host()
    broker = await listener.open(_ignore, url=absent.url)
    await place.eventually(lambda: "not connected yet" not in (broker.problem() or ""), "a first failure")
    await absent.create()
    await place.eventually(lambda: broker.problem() is None, "consuming")


async def test_stopping_before_ever_being_connected_is_immediate(listener, new_host):
    broker = await listener.open(_ignore, url=new_host().url)
    async with asyncio.timeout(2):
        await broker.stop()


async def test_a_reachable_broker_that_never_works_is_fatal(listener, place):
    reasons: list[str] = []
    await place.channel.declare_queue(listener.queue.name, durable=True)  # classic: cannot become a quorum queue
    await listener.open(_ignore, on_fatal=reasons.append, give_up_after_seconds=0.5)
    await place.eventually(lambda: len(reasons) == 1, "giving up")
    assert "reachable" in reasons[0]


async def test_an_absent_broker_is_never_fatal(listener, place):
    reasons: list[str] = []
    broker = await listener.open(
        _ignore, url="amqp://guest:guest@127.0.0.1:1/x", on_fatal=reasons.append, give_up_after_seconds=0.2
    )
    failures: set[str] = set()
    began = asyncio.get_running_loop().time()

    def observed() -> bool:
        failures.add(broker.problem() or "")
        return asyncio.get_running_loop().time() - began > 1.0

    await place.eventually(observed, "a second")
    assert reasons == []
    assert any("refused" in failure.lower() or "Connection" in failure for failure in failures)


async def test_dead_letters_can_be_heard_unread(listener, place):
    heard: list[Delivery] = []

    async def take(delivery: Delivery) -> None:
        heard.append(delivery)

    broker = Broker(place.url, service="undertaker", topology=place.topology(listener.queue), decode=place.decode)
    broker.hear(listener.queue, _ignore)
    broker.hear_raw(place.dead_queue, take, prefetch=1)
    await broker.start()
    await place.eventually(lambda: broker.problem() is None, "consuming")
    await place.publish(listener.queue, 1, body=b"\xff", message_id="odd")
    await place.eventually(lambda: len(heard) == 1, "the dead letter")
    await broker.stop()
    assert heard[0].body == b"\xff"
    assert heard[0].message_id == "odd"
    assert heard[0].routing_key == listener.queue.name
    assert heard[0].headers["x-death"][0]["reason"] == "rejected"


async def _ignore(_: object) -> None:
    return None
