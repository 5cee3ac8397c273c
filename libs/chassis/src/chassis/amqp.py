"""Connections to RabbitMQ with every wait bounded, and the arguments each of our queues carries."""

import asyncio
import contextlib
from typing import Any

import aio_pika
from aio_pika.abc import AbstractConnection
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, AMQPError
from yarl import URL

HEARTBEAT_SECONDS = 10
CONNECT_TIMEOUT_SECONDS = 5.0
CLOSE_TIMEOUT_SECONDS = 3.0
DELIVERY_LIMIT_NEVER_REACHED = 1_000_000
"""4.x gives a quorum queue without a limit one of 20, and 3.10 knows no word for "none"."""

BROKER_TROUBLE: tuple[type[Exception], ...] = (AMQPError, *CONNECTION_EXCEPTIONS, TimeoutError)
"""What the client raises when the broker or the way to it is broken; RuntimeError is among them."""


def amqp_url(url: str, *, name: str) -> str:
    """The same address with a heartbeat (unless given) and a connection name for the operator."""
    address = URL(url)
    return str(address.update_query({"heartbeat": str(HEARTBEAT_SECONDS), **address.query, "name": name}))


async def connect(url: str, *, name: str) -> AbstractConnection:
    """A connection that stays closed once it is lost: its owner begins again with whatever it needs on it.

    Raises one of `BROKER_TROUBLE`. aio-pika's self-healing connection is not used: one missing queue stops its recovery
    of everything else, and its task survives a cancellation.
    """
    async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
        return await aio_pika.connect(amqp_url(url, name=name))


async def close_quietly(connection: AbstractConnection) -> None:
    """Close within `CLOSE_TIMEOUT_SECONDS`; a broker that does not answer is left behind."""
    with contextlib.suppress(*BROKER_TROUBLE):
        async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
            await connection.close()


def quorum_arguments(queue_name: str, dead_exchange: str, delivery_limit: int) -> dict[str, Any]:
    """A replicated queue that loses nothing: it refuses when full, limits deliveries, keeps dead letters till moved."""
    return {
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": dead_exchange,
        "x-dead-letter-routing-key": queue_name,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
        "x-delivery-limit": delivery_limit,
    }


def last_resort_arguments() -> dict[str, Any]:
    """The queue behind the dead-letter exchange: it has none itself, so it must never reach a limit."""
    return {"x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT_NEVER_REACHED}


def was_cancelled_by_us() -> bool:
    """False for the bare CancelledError that aio-pika raises when a connection is lost."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
