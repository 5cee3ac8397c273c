"""The api as a process of its own, reached over HTTP, with wires to its servers that a test can cut."""

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import aio_pika
import asyncpg
import httpx
from aio_pika.abc import AbstractChannel

from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire
from contracts.facts import NumberConnectionChanged
from contracts.ids import uuid7
from contracts.statement import Statement
from contracts.values import ConnectionState
from evolution_simulator.testing import SimulatorProcess

SEAL_KEYS = f"k1:{base64.b64encode(b'k' * 32).decode()}"
SEAL_PEPPER = base64.b64encode(b"p" * 32).decode()
OPERATOR_KEY = "operator-key-of-the-tests"
GATEWAY_KEY = "gateway-key-of-the-tests"
DESTINATION = "+5547991000000"
TTL_SECONDS = 0.2
"""How long the api may remember keys, numbers and templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A tenant with one project and one key."""

    tenant_id: str
    project_id: str
    key: str = field(repr=False)


@dataclass(slots=True, kw_only=True)
class RunningApi:
    """What tests do with it."""

    client: httpx.AsyncClient
    looker: "asyncpg.Pool"
    channel: AbstractChannel
    database_wire: Wire
    broker_wire: Wire
    gateway: SimulatorProcess
    gateway_wire: Wire
    log_path: Path

    async def operator(self, path: str, **body: Any) -> dict[str, Any]:
        """POST below /v1/admin; the body of the 201."""
        answer = await self.client.post(f"/v1/admin/{path}", json=body, headers={"x-operator-key": OPERATOR_KEY})
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    async def account(
        self, *, environment: str = "TEST", approved: bool = False, number_id: str | None = None
    ) -> Account:
        """A new customer."""
        tenant = await self.operator("tenants", name="Padaria")
        project = await self.operator("projects", tenantId=tenant["id"], name="loja", productionApproved=approved)
        await self.profile(tenant["id"], DESTINATION)
        return Account(
            tenant_id=tenant["id"],
            project_id=project["id"],
            key=await self.key(project["id"], environment=environment, number_id=number_id),
        )

    async def key(self, project_id: str, *, environment: str = "TEST", number_id: str | None = None) -> str:
        """A further key of a project."""
        issued = await self.operator(
            "keys", projectId=project_id, environment=environment, name="test", numberId=number_id
        )
        return str(issued["key"])

    async def profile(self, tenant_id: str, phone: str) -> None:
        """A person of the tenant, to whom TEST keys may send."""
        await self.operator("profiles", tenantId=tenant_id, name="Ana", phone=phone)

    async def opt_in(self, key: str, phone: str = DESTINATION) -> None:
        """The recipient agrees to messages of the key's project from the platform's number."""
        answer = await self.client.post("/v1/opt-ins", json={"destinationNumber": phone}, headers={"x-api-key": key})
        assert answer.status_code == 201, answer.text

    async def plan(self, account: Account, *, timezone: str = "UTC", country: str | None = None, **limits: Any) -> None:
        """Put the account's tenant on a plan of its own; keys used before may be judged by the old one for a moment."""
        plan = await self.operator("plans", name=f"plan {uuid4().hex[:8]}", **limits)
        answer = await self.client.patch(
            f"/v1/admin/tenants/{account.tenant_id}",
            json={"planId": plan["id"], "timezone": timezone, "defaultCountry": country},
            headers={"x-operator-key": OPERATOR_KEY},
        )
        assert answer.status_code == 200, answer.text

    async def template(self, account: Account, *, body: str = "Oi {{nome}}", **more: Any) -> dict[str, Any]:
        """A template of a name of its own."""
        values = {"name": f"t_{uuid4().hex[:8]}", "category": "OTP", **more}
        return await self.operator("templates", projectId=account.project_id, body=body, **values)

    async def number(self, *, state: ConnectionState | None = None, **more: Any) -> dict[str, Any]:
        """A number, which has been seen in `state` if one is given."""
        instance = f"test-{uuid4().hex[:8]}"
        registered = await self.operator(
            "numbers", instance=instance, gatewayUrl="http://127.0.0.1:9", gatewayApiKey="k", **more
        )
        if state is not None:
            await self.say(NumberConnectionChanged(instance=instance, state=state, observed_at=datetime.now(UTC)))

            async def is_known() -> bool:
                return bool((await self.number_now(registered["id"]))["state"] == state)

            await eventually(is_known, f"the number {state}")
        return registered

    async def number_now(self, number_id: str) -> dict[str, Any]:
        answer = await self.client.get(f"/v1/admin/numbers/{number_id}", headers={"x-operator-key": OPERATOR_KEY})
        known: dict[str, Any] = answer.json()
        return known

    async def send(self, key: str | None, *, path: str = "/v1/messages/send", **body: Any) -> httpx.Response:
        """Send as a client does; a destination and a text unless given."""
        wanted = {"destinationNumber": DESTINATION} | ({} if "templateId" in body else {"text": "Olá"}) | body
        return await self.client.post(path, json=wanted, headers={"x-api-key": key} if key is not None else {})

    async def get(self, key: str, path: str) -> httpx.Response:
        return await self.client.get(f"/v1/{path}", headers={"x-api-key": key})

    async def say(self, statement: Statement) -> None:
        """Publish as another service does."""
        exchange = await self.channel.get_exchange(statement.EXCHANGE, ensure=False)
        message = aio_pika.Message(
            statement.body(),
            message_id=str(uuid7()),
            type=statement.TYPE,
            timestamp=datetime.now(UTC),
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        )
        await exchange.publish(message, statement.routing_key())

    async def rows(self, statement: str, *arguments: Any) -> Sequence[Any]:
        """Look into the tables, past every wire."""
        found: Sequence[Any] = await self.looker.fetch(statement, *arguments)
        return found

    async def is_ready(self) -> bool:
        return (await self.client.get("/ready")).status_code == 200

    async def mend(self) -> None:
        """Both wires whole, and the api over it."""
        self.database_wire.mend()
        self.broker_wire.mend()
        self.gateway_wire.mend()
        await eventually(self.is_ready, "the api ready again")

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")


def code_of(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of an error answer, which always says what is wrong in a sentence too."""
    body = answer.json()
    assert body["error"], body
    assert body["requestId"], body
    assert body["status"] == answer.status_code, body
    return answer.status_code, body["code"]


async def soon(check: Any, what: str) -> None:
    """Wait for what must be true once the api's memory is older than its bound."""
    await eventually(check, what, timeout_seconds=10)


async def at_once(*work: Any) -> list[Any]:
    async with asyncio.timeout(30):
        return await asyncio.gather(*work)
