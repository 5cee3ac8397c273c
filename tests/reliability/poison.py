"""Turns messages on their way to a lane into poison, each of a kind of its own."""

import asyncio
import base64
import json
import secrets
from dataclasses import dataclass
from typing import Any

import aio_pika
from tests.reliability.drilling import Drill

from chassis.seal import KeyRing
from contracts.topology import lane_queue
from local_stack.system import System
from local_stack.waiting import wait_until

KINDS = ("NOT_JSON", "UNKNOWN_TYPE", "NO_ID", "INVALID_FIELDS", "UNKNOWN_KEY", "OLD_VERSION")
"""What each of them is found to have died of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that the services do not have."""

    entry: str

    @classmethod
    def make(cls) -> "NewKey":
        return cls(entry=f"k2:{base64.b64encode(secrets.token_bytes(32)).decode()}")

    def resealed(self, sealed: str, *, old: KeyRing, aad: bytes) -> str:
        return KeyRing.parse(self.entry).seal(old.open(sealed, aad=aad), aad=aad)


def poison_lane(drill: Drill, key: NewKey) -> dict[str, str]:
    """Send one message for each kind while nobody consumes, and poison it in the queue; message ids by kind."""
    texts = [f"poison {kind}" for kind in KINDS]
    ids = drill.send(*texts)
    queue = lane_queue(drill.account.instance).name
    wait_until(lambda: drill.has_waiting(len(ids)), what="published", timeout_seconds=30)
    asyncio.run(_replace(drill.system, queue, dict(zip(ids, KINDS, strict=True)), key))
    return dict(zip(KINDS, ids, strict=True))


async def _replace(system: System, name: str, kinds: dict[str, str], key: NewKey) -> None:
    old = KeyRing.parse(system.credentials.seal_keys)
    async with await aio_pika.connect(system.workspace.broker_url) as connection:
        channel = await connection.channel()
        queue = await channel.get_queue(name, ensure=True)
        for _ in range(len(kinds)):
            message = await queue.get(timeout=10)
            poisoned = _poisoned(message, kinds, key, old)
            await channel.default_exchange.publish(poisoned, name)
            await message.ack()


def _poisoned(message: Any, kinds: dict[str, str], key: NewKey, old: KeyRing) -> aio_pika.Message:
    body, type_name, statement_id = message.body, message.type, message.message_id
    fact = json.loads(body)
    match kinds[fact["ref"]["message_id"]]:
        case "NOT_JSON":
            body = b"\x00\xff{"
        case "UNKNOWN_TYPE":
            type_name = "message.teleported.v1"
        case "NO_ID":
            statement_id = "none"
        case "INVALID_FIELDS":
            body = json.dumps({**fact, "deliver_until": "when it suits"}).encode()
        case "UNKNOWN_KEY":
            aad = _bytes_of(fact["ref"]["message_id"])
            body = json.dumps({**fact, "sealed": key.resealed(fact["sealed"], old=old, aad=aad)}).encode()
        case "OLD_VERSION":
            type_name = "message.accepted.v0"
    return aio_pika.Message(
        body,
        type=type_name,
        message_id=statement_id,
        timestamp=message.timestamp,
        headers=message.headers,
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )


def _bytes_of(message_id: str) -> bytes:
    return bytes.fromhex(message_id.replace("-", ""))
