"""A broker that stops talking without closing anything is noticed by its missing heartbeats."""

from collections.abc import Sequence

from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.dynamic_consumers import DynamicConsumers
from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire

from .place import Place, all_well, decode, number_of


async def test_consumers_leave_a_mute_connection_and_consume_over_a_new_one(place: Place, wire: Wire) -> None:
    heard: set[int] = set()

    async def hear(one: Heard) -> None:
        heard.add(number_of(one))

    async def hear_batch(_: str, batch: Sequence[Heard]) -> None:
        heard.update(number_of(one) for one in batch)

    url = f"{wire.url}?heartbeat=1"
    static, dynamic = place.queue("static"), place.queue("dynamic")
    broker = Broker(url, service="svc", topology=place.topology(static), decode=decode)
    broker.hear(static, hear)
    consumers = DynamicConsumers(
        url, service="svc", decode=decode, handler=hear_batch, dead_exchange=place.dead_exchange
    )
    await broker.start()
    await consumers.start()
    await all_well(broker, consumers)
    await consumers.add(dynamic)
    wire.mute()
    await eventually(lambda: broker.problem() is not None and consumers.problem() is not None, "noticing")
    wire.mend()
    await place.publish(static, 1)
    await place.publish(dynamic, 2)
    await eventually(lambda: heard == {1, 2}, "heard over new connections")
    await all_well(broker, consumers)
    await broker.stop()
    await consumers.stop()
