"""A planted number and text are found where they belong, seal by seal, and nowhere after erasure or retention."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import aio_pika
import asyncpg
import httpx
import pytest
from tests.e2e.client import ARRIVE_SECONDS, Client
from tests.e2e.searching import Searcher

from api.messages.usecases.forget_content import ForgetContent
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database
from chassis.testing.waiting import eventually
from contracts.topology import DEAD
from local_stack.customer import WebhookReceiver
from local_stack.environment import Service
from local_stack.operator_api import Account, Operator
from local_stack.system import System
from status_ingest.usecases.forget_old import ForgetOld

WAIT_SECONDS = 60


def planted_person() -> tuple[str, str, str]:
    """A number in both spellings, and a text, that nobody else has."""
    local = f"9{uuid4().int % 10_000_000:07d}"
    return f"55479{local}", f"5547{local}", f"segredo-{uuid4().hex}"


def open_account(system: System) -> Account:
    with Operator(system) as operator:
        return operator.open_account(instance=f"private-{uuid4().hex[:8]}", templates={})


def admin(system: System) -> httpx.Client:
    return httpx.Client(
        base_url=f"{system.api_url}/v1",
        headers={"x-operator-key": system.credentials.operator_key},
        timeout=15,
        trust_env=False,
    )


@asynccontextmanager
async def looking(system: System) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(system.workspace.database_admin_url)
    try:
        yield connection
    finally:
        await connection.close()


async def nothing_left(searcher: Searcher, *, except_in: Collection[str] = ()) -> None:
    found: list[set[str]] = []

    async def is_gone() -> bool:
        found[:] = [await searcher.found()]
        return found[0] <= set(except_in)

    try:
        await eventually(is_gone, "everything forgotten", timeout_seconds=WAIT_SECONDS)
    except AssertionError as error:
        raise AssertionError(f"still in {sorted(found[0])}") from error


async def bury(system: System, body: bytes) -> None:
    """Something nobody could read, as a queue gives it up."""
    connection = await aio_pika.connect(system.workspace.broker_url)
    async with connection:
        exchange = await (await connection.channel()).get_exchange(DEAD)
        await exchange.publish(aio_pika.Message(body, message_id=str(uuid4())), routing_key="nobody")


async def hasten(system: System, erasure_id: str) -> None:
    """As if everything on its way had arrived; then until it is complete."""

    async def is_complete() -> bool:
        async with looking(system) as connection:
            await connection.execute(
                "UPDATE api.erasures SET look_at = now() WHERE id = $1 AND walk = 2", UUID(erasure_id)
            )
        with admin(system) as http:
            return bool(http.get(f"/admin/recipients/erasures/{erasure_id}").json()["status"] == "COMPLETED")

    await eventually(is_complete, "the erasure complete", timeout_seconds=WAIT_SECONDS)


async def test_an_erased_person_is_nowhere(system: System, receiver: WebhookReceiver) -> None:
    long, short, text = planted_person()
    account = open_account(system)
    searcher = Searcher(system=system, planted=(long, short, long[4:], text))
    with Client(system, account) as client:
        client.register(receiver, path="erasing")
        sent = client.send(f"+{long}", text)
        client.wait_for(sent["id"], "READ")
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        scheduled = client.http.post(
            "/messages/send", json={"destinationNumber": f"+{short}", "text": text, "deliverAt": later}
        ).json()
        await bury(system, f"whatever it was, it was for +{long}: {text}".encode())
        everywhere = {
            "api.messages",
            "dispatcher.jobs",
            "reconciler.ledger",
            "reconciler.dead_letters",
            "notifier.deliveries",
            "status_ingest.raw_events",
        }

        async def is_everywhere() -> bool:
            return await searcher.found() == everywhere

        await eventually(is_everywhere, "copies where they belong", timeout_seconds=ARRIVE_SECONDS)
        with admin(system) as http:
            answer = http.post("/admin/recipients/erase", json={"phone": f"+{short}", "tenantId": account.tenant_id})
        assert answer.status_code == 202, answer.text
        await hasten(system, answer.json()["id"])
        await nothing_left(searcher)
        assert await searcher.in_queues(account.instance) == []
        assert _in_logs(system, searcher) == []
        shown = client.read(sent["id"])
        assert (shown["status"], shown["destinationNumber"]) == ("READ", "")
        assert client.read(scheduled["id"])["status"] == "CANCELED"
    async with looking(system) as connection:
        assert await connection.fetch("SELECT 1 FROM dispatcher.contacts WHERE instance = $1", account.instance) == []


def _in_logs(system: System, searcher: Searcher) -> list[str]:
    logs = [path for path in system.log_dir.glob("*.log") if path.name != "evolution-simulator.log"]
    assert len(logs) >= len(Service)
    return [path.name for path in logs if searcher.is_in(path.read_text())]


@pytest.mark.parametrize("mode", [{"piiMode": "RELAY_ONLY"}, {"piiMode": "STORE_X_DAYS", "piiRetentionDays": 1}])
async def test_what_a_number_keeps_ends_everywhere(
    system: System, receiver: WebhookReceiver, mode: dict[str, Any]
) -> None:
    long, short, text = planted_person()
    account = open_account(system)
    searcher = Searcher(system=system, planted=(long, short, long[4:], text))
    with admin(system) as http:
        body = {"projectId": account.project_id, "environment": "LIVE", "name": "tenant", "scope": "tenant"}
        key = http.post("/admin/keys", json=body).json()["key"]
        changed = http.patch(f"/numbers/{account.number_id}", json=mode, headers={"x-api-key": key})
        assert changed.status_code == 200, changed.text
    with Client(system, account) as client:
        await _until_known(system, client, relays=mode["piiMode"] == "RELAY_ONLY")
        client.register(receiver, path=f"keeping-{mode['piiMode']}")
        sent = client.send(f"+{long}", text)
        client.wait_for(sent["id"], "READ")
        kept = {"api.messages", "notifier.deliveries"} if mode["piiMode"] == "STORE_X_DAYS" else set()

        async def is_settled() -> bool:
            return await searcher.found() - {"status_ingest.raw_events"} == kept

        await eventually(is_settled, "transient copies wiped", timeout_seconds=ARRIVE_SECONDS)
        async with looking(system) as connection:
            await connection.execute(
                "UPDATE api.messages SET dispatched_at = now() - interval '2 days' WHERE id = $1", UUID(sent["id"])
            )
        async with opened(system, Service.API, OUTBOX) as database:
            while await ForgetContent(database=database, clock=utc_now).expired():
                pass
        await nothing_left(searcher, except_in={"status_ingest.raw_events"})
        async with opened(system, Service.STATUS_INGEST, None) as database:
            forget = ForgetOld(database=database)
            while await forget.step(datetime.now(UTC) + timedelta(hours=25)):
                pass
        await nothing_left(searcher)
        assert await searcher.in_queues(account.instance) == []
        assert client.read(sent["id"])["status"] == "READ"


async def _until_known(system: System, client: Client, *, relays: bool) -> None:
    """Replicas may remember a number for as long as `CONFIGURATION_TTL_SECONDS`."""

    async def is_known() -> bool:
        sent = client.send("+5547990000001", "probe")
        async with looking(system) as connection:
            sealed = await connection.fetchval("SELECT sealed FROM api.messages WHERE id = $1", UUID(sent["id"]))
        return (sealed is None) == relays

    await eventually(is_known, "the number's new mode in use", timeout_seconds=ARRIVE_SECONDS)


@asynccontextmanager
async def opened(system: System, service: Service, outbox: Any) -> AsyncIterator[Database]:
    """The database as the service itself opens it."""
    url = system.workspace.database_url(service, system.credentials.database_passwords[service])
    database = Database(url, outbox=outbox, pool_size=1)
    try:
        yield database
    finally:
        await database.stop()
