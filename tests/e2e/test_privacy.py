"""A planted phone number and text appear in no broker message, no log line, no metric and no table."""

from pathlib import Path

import aio_pika
import asyncpg
import httpx
from tests.e2e.client import ARRIVE_SECONDS, Client

from contracts.topology import COMMANDS, DEAD, FACTS
from local_stack.customer import WebhookReceiver
from local_stack.environment import Service
from local_stack.system import System
from local_stack.waiting import wait_until

PHONE = "5547987650123"
LOCAL_VARIANT = "554787650123"
TEXT = "planted-secret-Ünïcode-phrase"
PLANTED = [PHONE, LOCAL_VARIANT, "987650123", TEXT, TEXT.encode("unicode_escape").decode()]
OWN_RECORDS = {"gateway-ledger.jsonl", "evolution-simulator.log"}


def leaks(text: str) -> list[str]:
    return [planted for planted in PLANTED if planted in text]


async def tap(channel: aio_pika.abc.AbstractChannel) -> aio_pika.abc.AbstractQueue:
    """A queue that hears a copy of everything said."""
    queue = await channel.declare_queue(exclusive=True)
    for exchange in (FACTS, DEAD):
        await queue.bind(exchange, routing_key="#")
    for service in ("dispatcher", "api", "status-ingest", "notifier", "reconciler"):
        await queue.bind(COMMANDS, routing_key=service)
    return queue


async def drain(queue: aio_pika.abc.AbstractQueue) -> list[str]:
    heard = []
    while (message := await queue.get(no_ack=True, fail=False)) is not None:
        heard.append(f"{message.routing_key} {message.headers} {message.body.decode()}")
    return heard


async def test_planted_content_is_nowhere(system: System, client: Client, receiver: WebhookReceiver) -> None:
    connection = await aio_pika.connect(system.workspace.broker_url)
    async with connection:
        queue = await tap(await connection.channel())
        client.register(receiver, path="privacy")
        sent = client.send(f"+{PHONE}", TEXT)
        client.http.post("/messages/send", json={"destinationNumber": f"{PHONE}{PHONE}", "text": TEXT})
        client.http.get(f"/messages/{PHONE}")
        client.wait_for(sent["id"], "READ")
        wait_until(lambda: told(receiver, sent["id"]), what="webhook", timeout_seconds=ARRIVE_SECONDS)
        heard = await drain(queue)
    spoken = {line.split(" ", 1)[0] for line in heard}
    assert {"message.dispatched", "receipt.recorded", "message.status_changed", "echo.observed"} <= spoken
    assert [line for line in heard if leaks(line)] == []
    assert leaks_in_logs(system.log_dir) == []
    assert leaks_in_metrics(system) == []
    assert await leaks_in_tables(system.workspace.database_admin_url) == []


def told(receiver: WebhookReceiver, message_id: str) -> bool:
    hooks = [hook for hook in receiver.snapshot() if hook.message_id == message_id]
    return any(hook.event == "message.read" for hook in hooks)


def leaks_in_logs(folder: Path) -> list[str]:
    logs = [path for path in folder.glob("*.log") if path.name not in OWN_RECORDS]
    assert len(logs) >= len(Service)
    return [path.name for path in logs if leaks(path.read_text())]


def leaks_in_metrics(system: System) -> list[str]:
    pages = {service: httpx.get(f"{system.ports.url(service)}/metrics", trust_env=False).text for service in Service}
    return [service for service, page in pages.items() if leaks(page)]


async def leaks_in_tables(admin_url: str) -> list[str]:
    connection = await asyncpg.connect(admin_url)
    try:
        tables = await connection.fetch(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY($1)",
            [str(service) for service in Service],
        )
        assert len(tables) > 20
        guilty = []
        for schema, table in tables:
            rows = await connection.fetch(f'SELECT t::text AS line FROM "{schema}"."{table}" t')
            guilty += [f"{schema}.{table}" for row in rows if leaks(row["line"])]
        return guilty
    finally:
        await connection.close()
