"""What a client does with its webhook endpoints themselves, and what it sees of the attempts at them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from api.numbers.domain import Number
from api.numbers.store import find_number
from api.refusals import Refusal, RefusedError
from api.webhooks.domain import Asking, own_number, tenants_number
from api.webhooks.usecases.ask_notifier import Questions, ask_notifier
from chassis.database import Database
from chassis.seal import KeyRing, SealError
from contracts.questions import (
    ChangeEndpoint,
    DeleteEndpoint,
    DeliveryLog,
    Endpoint,
    EndpointFound,
    EndpointRegistered,
    Endpoints,
    FindEndpoint,
    ListDeliveryLog,
    ListEndpoints,
    LoggedAttempt,
    RegisterEndpoint,
    RotateSecret,
    SecretRotated,
    TrialPlanned,
    TryEndpoint,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAttempt:
    """An attempt for an authorised reader: what was sent and what came back."""

    logged: LoggedAttempt
    payload: bytes | None = field(repr=False)
    response: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageEndpoints:
    """Endpoints of the number of a key, or of all numbers of a tenant key's tenant.

    What lies outside is not found.
    """

    questions: Questions
    keys: KeyRing
    database: Database

    async def register(self, asking: Asking, *, name: str, url: str, events: Sequence[str]) -> tuple[Endpoint, str]:
        """The new endpoint and its signing secret, which nobody can read again."""
        number = await self._number(asking)
        if number is None:
            raise RefusedError(Refusal.NUMBER_REQUIRED, field="whatsappNumberId")
        question = RegisterEndpoint(
            tenant_id=asking.caller.tenant_id,
            number_id=number.number_id,
            instance=number.instance,
            name=name,
            url=url,
            events=tuple(events),
        )
        answer = await ask_notifier(self.questions, question, EndpointRegistered)
        return answer.endpoint, self._secret(answer.endpoint, answer.sealed_secret)

    async def list(self, asking: Asking) -> Sequence[Endpoint]:
        """Oldest first."""
        reach = await self.reach(asking)
        return (await ask_notifier(self.questions, ListEndpoints(**reach), Endpoints)).endpoints

    async def find(self, asking: Asking, endpoint_id: UUID) -> Endpoint:
        """Raises `RefusedError(WEBHOOK_NOT_FOUND)`, as all below do."""
        reach = await self.reach(asking)
        return (
            await ask_notifier(self.questions, FindEndpoint(endpoint_id=endpoint_id, **reach), EndpointFound)
        ).endpoint

    async def change(self, asking: Asking, endpoint_id: UUID, changes: dict[str, Any]) -> Endpoint:
        """The endpoint as it is now."""
        reach = await self.reach(asking)
        question = ChangeEndpoint(endpoint_id=endpoint_id, **reach, **changes)
        return (await ask_notifier(self.questions, question, EndpointFound)).endpoint

    async def delete(self, asking: Asking, endpoint_id: UUID) -> Endpoint:
        """The endpoint as it was."""
        reach = await self.reach(asking)
        return (
            await ask_notifier(self.questions, DeleteEndpoint(endpoint_id=endpoint_id, **reach), EndpointFound)
        ).endpoint

    async def rotate(self, asking: Asking, endpoint_id: UUID) -> tuple[Endpoint, str, datetime]:
        """The endpoint, its new secret, and until when the old one signs along."""
        reach = await self.reach(asking)
        answer = await ask_notifier(self.questions, RotateSecret(endpoint_id=endpoint_id, **reach), SecretRotated)
        return answer.endpoint, self._secret(answer.endpoint, answer.sealed_secret), answer.previous_valid_until

    async def attempt(self, asking: Asking, endpoint_id: UUID) -> TrialPlanned:
        """The delivery that the endpoint is owed now; asked again within seconds it is the same."""
        caller, reach = asking.caller, await self.reach(asking)
        question = TryEndpoint(
            endpoint_id=endpoint_id, project_id=caller.project_id, environment=caller.environment, **reach
        )
        return await ask_notifier(self.questions, question, TrialPlanned)

    async def log(self, asking: Asking, endpoint_id: UUID, *, event: str | None, limit: int) -> Sequence[OpenedAttempt]:
        """Newest first, opened: whoever may read the log is whom the payloads were sent to."""
        reach = await self.reach(asking)
        question = ListDeliveryLog(endpoint_id=endpoint_id, event=event, limit=limit, **reach)
        return [
            self._opened(attempt) for attempt in (await ask_notifier(self.questions, question, DeliveryLog)).attempts
        ]

    async def _number(self, asking: Asking) -> Number | None:
        number = own_number(asking)
        if number is not None or asking.number_id is None:
            return number
        async with self.database.transaction() as tx:
            return tenants_number(await find_number(tx, asking.number_id), asking.caller)

    async def reach(self, asking: Asking) -> dict[str, Any]:
        """What bounds a question about endpoints: the tenant, and the number if the key or the request names one."""
        number = await self._number(asking)
        return {"tenant_id": asking.caller.tenant_id, "number_id": number.number_id if number else None}

    def _secret(self, endpoint: Endpoint, sealed: str) -> str:
        return self.keys.open(sealed, aad=endpoint.endpoint_id.bytes).decode()

    def _opened(self, attempt: LoggedAttempt) -> OpenedAttempt:
        aad = attempt.delivery_id.bytes
        try:
            payload = self.keys.open(attempt.sealed_payload, aad=aad)
            response = self.keys.open(attempt.sealed_response, aad=aad) if attempt.sealed_response else None
        except SealError:
            return OpenedAttempt(logged=attempt, payload=None, response=None)
        return OpenedAttempt(logged=attempt, payload=payload, response=response)
