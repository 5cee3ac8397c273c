"""A tenant with several keys, and short ways to call as each of them."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from .running import Account, RunningApi


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """`key` has no number, `tenant_key` stands for the whole tenant."""

    api: RunningApi
    account: Account
    tenant_key: str = field(repr=False)

    async def call(
        self, method: str, path: str, *, key: str | None = None, body: Any = None, **query: Any
    ) -> httpx.Response:
        """As the tenant unless another key is given."""
        headers = {"x-api-key": key or self.tenant_key}
        return await self.api.client.request(method, f"/v1/{path}", json=body, params=query, headers=headers)

    async def done(self, method: str, path: str, *, key: str | None = None, body: Any = None, **query: Any) -> Any:
        """The body of an answer that must be a success."""
        answer = await self.call(method, path, key=key, body=body, **query)
        assert answer.is_success, answer.text
        return answer.json()

    async def create_number(self, phone: str, *, key: str | None = None, **more: Any) -> dict[str, Any]:
        """A number at the gateway of the tests, not paired yet."""
        body = {"name": "Loja", "number": phone, **more}
        created: dict[str, Any] = await self.done("POST", "numbers", key=key, body=body)
        return created

    async def number_key(self, number_id: str, *, environment: str = "TEST") -> str:
        """A key that stands for one number."""
        return await self.api.key(self.account.project_id, environment=environment, number_id=number_id)


async def new_customer(api: RunningApi) -> Customer:
    account = await api.account()
    issued = await api.operator("keys", projectId=account.project_id, environment="TEST", name="tenant", scope="tenant")
    return Customer(api=api, account=account, tenant_key=str(issued["key"]))


async def set_state(api: RunningApi, instance: str, state: str) -> None:
    """Scan the code, or take the phone away, at the gateway."""
    answer = await api.gateway.client.post(
        f"/simulator/instances/{instance}/state", json={"state": state, "silent": True}
    )
    answer.raise_for_status()


async def instances(api: RunningApi) -> dict[str, str]:
    """What the gateway has, by name."""
    rows = (await api.gateway.client.get("/instance/fetchInstances")).json()
    return {row["name"]: row["connectionStatus"] for row in rows}
