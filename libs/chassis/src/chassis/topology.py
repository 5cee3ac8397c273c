"""Declares exchanges and queues, again and again without harm, on channels nobody consumes from."""

import asyncio
from dataclasses import dataclass

from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractQueue

from chassis.amqp import close_quietly, connect, last_resort_arguments, quorum_arguments
from contracts.topology import DELIVERY_LIMIT, Queue

STEP_TIMEOUT_SECONDS = 10.0
DECLARE_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Every exchange (name, type) and queue a service relies on. `dead_queue` hears everything from `dead_exchange`."""

    exchanges: tuple[tuple[str, str], ...]
    queues: tuple[Queue, ...]
    dead_exchange: str
    dead_queue: Queue
    delivery_limit: int = DELIVERY_LIMIT


async def declare(url: str, topology: Topology, *, name: str = "topology") -> None:
    """Declare everything over a short-lived connection; raises one of `amqp.BROKER_TROUBLE`."""
    connection = await connect(url, name=name)
    try:
        await declare_on(connection, topology)
    finally:
        await close_quietly(connection)


async def declare_on(connection: AbstractConnection, topology: Topology) -> None:
    """Declare everything on a channel of its own: an argument that differs from the existing queue's closes it."""
    async with asyncio.timeout(DECLARE_TIMEOUT_SECONDS):
        channel = await connection.channel()
        for name, kind in topology.exchanges:
            await channel.declare_exchange(name, kind, durable=True, timeout=STEP_TIMEOUT_SECONDS)
        dead = await channel.declare_queue(
            topology.dead_queue.name, durable=True, arguments=last_resort_arguments(), timeout=STEP_TIMEOUT_SECONDS
        )
        await bind(dead, topology.dead_queue)
        for queue in topology.queues:
            await declare_queue(
                channel, queue, dead_exchange=topology.dead_exchange, delivery_limit=topology.delivery_limit
            )
        await channel.close()


async def declare_queue(
    channel: AbstractChannel, queue: Queue, *, dead_exchange: str, delivery_limit: int = DELIVERY_LIMIT
) -> AbstractQueue:
    """Declare and bind one quorum queue; the exchanges it listens to must exist."""
    declared = await channel.declare_queue(
        queue.name,
        durable=True,
        arguments=quorum_arguments(queue.name, dead_exchange, delivery_limit),
        timeout=STEP_TIMEOUT_SECONDS,
    )
    await bind(declared, queue)
    return declared


async def bind(declared: AbstractQueue, queue: Queue) -> None:
    """Bind a declared queue to everything it listens to."""
    for binding in queue.bindings:
        await declared.bind(binding.exchange, routing_key=binding.key, timeout=STEP_TIMEOUT_SECONDS)
