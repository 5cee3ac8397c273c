"""Places on the run's virtual host, a breakable way to it, and a virtual host that is not there yet."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import aio_pika
import pytest
from aio_pika.abc import AbstractConnection

from chassis.amqp import close_quietly
from chassis.testing.virtual_host import VirtualHost
from chassis.testing.wire import Wire
from local_stack.backing import Backing

from .place import Listener, Place

OpenPlace = Callable[[str], Awaitable[Place]]


@pytest.fixture
async def open_place() -> AsyncIterator[OpenPlace]:
    """Places at any broker's address."""
    connections: list[AbstractConnection] = []

    async def open_one(url: str) -> Place:
        connections.append(await aio_pika.connect(url))
        return Place(url=url, channel=await connections[-1].channel())

    yield open_one
    for connection in connections:
        await close_quietly(connection)


@pytest.fixture
async def place(vhost: VirtualHost, open_place: OpenPlace) -> Place:
    return await open_place(vhost.url)


@pytest.fixture
async def listener(place: Place) -> AsyncIterator[Listener]:
    listener = Listener(place)
    yield listener
    await listener.close()


@pytest.fixture
async def wire(vhost: VirtualHost) -> AsyncIterator[Wire]:
    async with Wire(vhost.url, default_port=5672) as wire:
        yield wire


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentHost:
    """A virtual host that is not there until `create`."""

    name: str
    backing: Backing

    @property
    def url(self) -> str:
        return self.backing.rabbitmq.url(self.name)

    def create(self) -> None:
        self.backing.rabbitmq.create_vhost(self.name)


@pytest.fixture
def absent_host(backing: Backing) -> Iterator[AbsentHost]:
    host = AbsentHost(name=f"pilot_test_{uuid4().hex[:8]}", backing=backing)
    backing.instance.remember_workspace(host.name)
    yield host
    backing.rabbitmq.delete_vhost(host.name)
    backing.instance.forget_workspace(host.name)
