"""A broker killed and started again: everything consumes and answers again, unattended, and nothing is lost."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from chassis.answers import Answerer
from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.dynamic_consumers import DynamicConsumers
from chassis.questions import Asker, OwnerUnavailableError
from local_stack.backing import open_backing
from local_stack.rabbitmq import PrivateRabbitMQ


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRabbitMQ]:
    with open_backing(tmp_path_factory.mktemp("backing"), private_rabbitmq=True) as backing:
        assert backing.private_rabbitmq is not None
        backing.rabbitmq.create_vhost("restart")
        yield backing.private_rabbitmq


@pytest.mark.parametrize("how", ["restart", "kill"])
async def test_everything_returns(own_broker, open_place, how):
    url = own_broker.url("restart")
    place = await open_place(url)
    heard: set[int] = set()

    async def hear(one: Heard) -> None:
        heard.add(one.statement.number)

    async def hear_batch(_: str, batch: Sequence[Heard]) -> None:
        heard.update(one.statement.number for one in batch)

    async def answer(_: str, body: bytes) -> bytes:
        return body

    static, dynamic = place.queue("static"), place.queue("dynamic")
    broker = Broker(url, service="svc", topology=place.topology(static), decode=place.decode)
    broker.hear(static, hear)
    consumers = DynamicConsumers(
        url, service="svc", decode=place.decode, handler=hear_batch, dead_exchange=place.dead_exchange
    )
    answerer = Answerer(url, f"questions.{place.mark}", answer)
    asker = Asker(url, service="svc")
    stages = (broker, consumers, answerer, asker)
    watched = (broker, consumers, answerer)
    for stage in stages:
        await stage.start()
    await place.eventually(lambda: all(stage.problem() is None for stage in watched), "working")
    await consumers.add(dynamic)
    await place.publish(static, *range(100))
    await place.publish(dynamic, *range(100, 200))
    await place.eventually(lambda: heard == set(range(200)), "the first")
    assert await asker.ask(f"questions.{place.mark}", b"1", type="t", timeout_seconds=5) == b"1"

    await asyncio.to_thread(own_broker.stop if how == "restart" else own_broker.kill)
    await place.eventually(lambda: all(stage.problem() is not None for stage in watched), "noticing")
    with pytest.raises(OwnerUnavailableError):
        await asker.ask(f"questions.{place.mark}", b"2", type="t", timeout_seconds=1)
    await asyncio.to_thread(own_broker.start)

    again = await open_place(url, mark=place.mark)
    await again.publish(static, *range(200, 300))
    await again.publish(dynamic, *range(300, 400))
    await place.eventually(lambda: heard == set(range(400)), "the second")
    await place.eventually(lambda: all(stage.problem() is None for stage in watched), "working again")
    assert await asker.ask(f"questions.{place.mark}", b"3", type="t", timeout_seconds=5) == b"3"
    for stage in stages:
        await stage.stop()
