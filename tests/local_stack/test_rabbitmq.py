"""A private RabbitMQ keeps durable queues and persistent messages across restarts and crashes."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aio_pika
import aiormq
import pytest
from aio_pika.abc import AbstractChannel

from local_stack.blocking import run_blocking
from local_stack.rabbitmq import PrivateRabbitMQ
from local_stack.rabbitmq_binaries import RabbitMQBinaries
from local_stack.vhosts import broker_version

VHOST, QUEUE = "pilot_test_keep", "kept"
KINDS = ("classic", "quorum")


@pytest.fixture(scope="module")
def broker(run_dir: Path, rabbitmq_binaries: RabbitMQBinaries) -> Iterator[PrivateRabbitMQ]:
    with PrivateRabbitMQ(run_dir, rabbitmq_binaries) as broker:
        broker.create_vhost(VHOST)
        yield broker


@asynccontextmanager
async def channel_to(url: str) -> AsyncIterator[AbstractChannel]:
    connection = await aio_pika.connect(url, timeout=10)
    async with connection, connection.channel() as channel:
        yield channel


async def publish(url: str, kind: str, body: bytes) -> None:
    async with channel_to(url) as channel:
        name = f"{QUEUE}-{kind}"
        await channel.declare_queue(name, durable=True, arguments={"x-queue-type": kind})
        message = aio_pika.Message(body, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await channel.default_exchange.publish(message, routing_key=name, timeout=10)


async def take(url: str, kind: str) -> bytes:
    async with channel_to(url) as channel:
        queue = await channel.get_queue(f"{QUEUE}-{kind}", ensure=False)
        message = await queue.get(no_ack=True, timeout=10)
        assert message is not None
        return message.body


def test_messages_survive_restart_and_kill(broker: PrivateRabbitMQ) -> None:
    url = broker.url(VHOST)
    for kind in KINDS:
        run_blocking(publish(url, kind, b"before restart"))
    broker.restart()
    for kind in KINDS:
        assert run_blocking(take(url, kind)) == b"before restart"
        run_blocking(publish(url, kind, b"before kill"))
    broker.kill()
    with pytest.raises(ConnectionError):
        broker_version(url)
    broker.start()
    for kind in KINDS:
        assert run_blocking(take(url, kind)) == b"before kill"


def test_it_keeps_to_itself(broker: PrivateRabbitMQ) -> None:
    assert broker.port < 32768
    assert broker.port != 5672
    with pytest.raises(aiormq.exceptions.AMQPConnectionError):
        broker_version(f"amqp://guest:guest@127.0.0.1:{broker.port}/")


def test_virtual_hosts_come_and_go(broker: PrivateRabbitMQ) -> None:
    broker.create_vhost("pilot_test_gone")
    assert broker_version(broker.url("pilot_test_gone")) >= (3, 10)
    broker.delete_vhost("pilot_test_gone")
    broker.delete_vhost("pilot_test_gone")
    with pytest.raises(aiormq.exceptions.InvalidFrameError, match="Close"):
        broker_version(broker.url("pilot_test_gone"))
