"""What an operator does before a customer can send: tenant, project, number, template and key, through the API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

from local_stack.system import System
from local_stack.waiting import wait_until

FAST_PACING: Mapping[str, Any] = {
    "otp": {"min_ms": 20, "max_ms": 60},
    "utility": {"min_ms": 40, "max_ms": 120},
    "marketing": {"min_ms": 80, "max_ms": 240},
    "max_in_flight": 4,
}
"""Quick enough to watch; a real number's default is the platform's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A project that can send from one number."""

    tenant_id: str
    project_id: str
    number_id: str
    instance: str
    api_key: str = field(repr=False)


class Operator:
    """The operator API of one running system, and the gateway behind it (or another one)."""

    def __init__(self, system: System, *, gateway_url: str | None = None) -> None:
        self._system, self._gateway_url = system, gateway_url or system.gateway_url
        self._http = httpx.Client(
            base_url=f"{system.api_url}/v1/admin",
            headers={"x-operator-key": system.credentials.operator_key},
            timeout=15,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def open_account(
        self, *, instance: str, templates: Mapping[str, tuple[str, str]], pacing: Mapping[str, Any] = FAST_PACING
    ) -> Account:
        """`templates` maps a name to (category, body). Returns once the number is connected."""
        self._create_instance(instance)
        tenant_id = self._post("tenants", name=f"Tenant of {instance}")["id"]
        project_id = self._post("projects", tenantId=tenant_id, name=instance, productionApproved=True)["id"]
        number_id = self._register_number(instance, tenant_id, pacing)
        for name, (category, body) in templates.items():
            self._post(
                "templates", projectId=project_id, name=name, category=category, body=body, productionApproved=True
            )
        key = self._post("keys", projectId=project_id, environment="LIVE", name="first", numberId=number_id)["key"]
        wait_until(lambda: self._is_open(number_id), what=f"number {instance} OPEN", timeout_seconds=30)
        return Account(tenant_id=tenant_id, project_id=project_id, number_id=number_id, instance=instance, api_key=key)

    def _create_instance(self, instance: str) -> None:
        answer = httpx.post(
            f"{self._gateway_url}/instance/create",
            json={"instanceName": instance, "integration": "WHATSAPP-BAILEYS"},
            headers={"apikey": self._system.credentials.gateway_key},
            timeout=10,
            trust_env=False,
        )
        answer.raise_for_status()
        opened = httpx.post(
            f"{self._gateway_url}/simulator/instances/{instance}/state",
            json={"state": "open"},
            timeout=10,
            trust_env=False,
        )
        opened.raise_for_status()

    def _register_number(self, instance: str, tenant_id: str, pacing: Mapping[str, Any]) -> str:
        registered = self._post(
            "numbers",
            instance=instance,
            tenantId=tenant_id,
            displayName=instance.title(),
            gatewayUrl=self._gateway_url,
            gatewayApiKey=self._system.credentials.gateway_key,
            pacing=pacing,
        )
        if not registered["webhookConfigured"]:
            raise RuntimeError("the gateway did not take the address of status-ingest")
        return str(registered["id"])

    def _is_open(self, number_id: str) -> bool:
        return bool(self._get(f"numbers/{number_id}")["state"] == "OPEN")

    def _post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self._http.post(f"/{path}", json=body)
        if answer.is_error:
            raise RuntimeError(f"POST {path}: {answer.status_code} {answer.text[:300]}")
        return dict(answer.json())

    def _get(self, path: str) -> dict[str, Any]:
        answer = self._http.get(f"/{path}")
        answer.raise_for_status()
        return dict(answer.json())
