"""A broker stopped, then killed, and each time started again: everything returns unattended and nothing is lost.

In this order, because RabbitMQ 3.10 loses a quorum queue for ever by a crash within half a second of its declaration.
"""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from chassis.answers import Answerer
from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.dynamic_consumers import DynamicConsumers
from chassis.questions import Asker, OwnerUnavailableError
from chassis.runner import Stage
from chassis.testing.waiting import eventually
from local_stack.backing import open_backing
from local_stack.rabbitmq import PrivateRabbitMQ
from local_stack.rabbitmq_container import ContainerRabbitMQ

from .conftest import OpenPlace
from .place import Place, all_well, decode, number_of


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRabbitMQ | ContainerRabbitMQ]:
    with open_backing(tmp_path_factory.mktemp("backing"), private_rabbitmq=True) as backing:
        assert backing.private_rabbitmq is not None
        backing.rabbitmq.create_vhost("restart")
        yield backing.private_rabbitmq


async def test_everything_returns(own_broker: PrivateRabbitMQ | ContainerRabbitMQ, open_place: OpenPlace) -> None:
    url = own_broker.url("restart")
    place = await open_place(url)
    heard: set[int] = set()

    async def hear(one: Heard) -> None:
        heard.add(number_of(one))

    async def hear_batch(_: str, batch: Sequence[Heard]) -> None:
        heard.update(number_of(one) for one in batch)

    async def answer(_: str, body: bytes) -> bytes:
        return body

    async def all_works(place: Place, numbers: range) -> None:
        await place.publish(static, *numbers[::2])
        await place.publish(dynamic, *numbers[1::2])
        await eventually(lambda: heard >= set(numbers), "all heard")
        await all_well(*watched)
        assert await asker.ask(f"questions.{place.mark}", b"?", type="t", timeout_seconds=5) == b"?"

    static, dynamic = place.queue("static"), place.queue("dynamic")
    broker = Broker(url, service="svc", topology=place.topology(static), decode=decode)
    broker.hear(static, hear)
    consumers = DynamicConsumers(
        url, service="svc", decode=decode, handler=hear_batch, dead_exchange=place.dead_exchange
    )
    answerer = Answerer(url, f"questions.{place.mark}", answer)
    asker = Asker(url, service="svc")
    watched = (broker, consumers, answerer)
    async with running(*watched, asker):
        await all_well(*watched)
        await consumers.add(dynamic)
        await all_works(place, range(200))
        for end, first in ((own_broker.stop, 200), (own_broker.kill, 400)):
            await asyncio.to_thread(end)
            await eventually(lambda: all(stage.problem() is not None for stage in watched), "noticing")
            with pytest.raises(OwnerUnavailableError):
                await asker.ask(f"questions.{place.mark}", b"?", type="t", timeout_seconds=1)
            await asyncio.to_thread(own_broker.start)
            await all_works(
                dataclasses.replace(place, channel=(await open_place(url)).channel), range(first, first + 200)
            )


@contextlib.asynccontextmanager
async def running(*stages: Stage) -> AsyncIterator[None]:
    for stage in stages:
        await stage.start()
    try:
        yield
    finally:
        for stage in stages:
            await stage.stop()
