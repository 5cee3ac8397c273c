"""A broker that stops talking without closing anything is noticed by its missing heartbeats."""

from collections.abc import Sequence

from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.dynamic_consumers import DynamicConsumers


async def test_consumers_leave_a_mute_connection_and_consume_over_a_new_one(place, wire):
    heard: set[int] = set()

    async def hear(one: Heard) -> None:
        heard.add(one.statement.number)

    async def hear_batch(_: str, batch: Sequence[Heard]) -> None:
        heard.update(one.statement.number for one in batch)

    url = f"{wire.url}?heartbeat=1"
    static, dynamic = place.queue("static"), place.queue("dynamic")
    broker = Broker(url, service="svc", topology=place.topology(static), decode=place.decode)
    broker.hear(static, hear)
    consumers = DynamicConsumers(
        url, service="svc", decode=place.decode, handler=hear_batch, dead_exchange=place.dead_exchange
    )
    try:
        await broker.start()
        await consumers.start()
        await place.eventually(lambda: broker.problem() is None and consumers.problem() is None, "connected")
        await consumers.add(dynamic)
        await wire.freeze()
        await place.publish(static, 1)
        await place.publish(dynamic, 2)
        await place.eventually(lambda: heard == {1, 2}, "heard over new connections")
        assert broker.problem() is None
        assert consumers.problem() is None
    finally:
        await broker.stop()
        await consumers.stop()
