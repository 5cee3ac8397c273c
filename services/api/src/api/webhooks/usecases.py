"""What a client does with its webhook endpoints; the notifier carries it out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from api.access.domain import Caller, sending_number
from api.refusals import Refusal, RefusedError
from chassis.seal import KeyRing
from contracts.questions import (
    Endpoint,
    EndpointRegistered,
    Endpoints,
    ListEndpoints,
    Question,
    RegisterEndpoint,
    Rejected,
)
from contracts.statement import Statement


class Questions(Protocol):
    """Asks the owner of endpoints."""

    async def ask(self, question: Question) -> Statement: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageEndpoints:
    """Endpoints of the number a key sends from."""

    questions: Questions
    keys: KeyRing

    async def register(self, caller: Caller, *, name: str, url: str, events: Sequence[str]) -> tuple[Endpoint, str]:
        """The new endpoint and its signing secret, which nobody can read again."""
        number = sending_number(caller)
        answer = await self.questions.ask(
            RegisterEndpoint(
                tenant_id=caller.tenant_id,
                number_id=number.number_id,
                instance=number.instance,
                name=name,
                url=url,
                events=tuple(events),
            )
        )
        match answer:
            case EndpointRegistered():
                endpoint = answer.endpoint
                return endpoint, self.keys.open(answer.sealed_secret, aad=endpoint.endpoint_id.bytes).decode()
            case Rejected():
                raise RefusedError(Refusal.ENDPOINT_REJECTED, answer.message, field=answer.field)
            case _:
                raise RefusedError(Refusal.OWNER_UNAVAILABLE)

    async def list(self, caller: Caller) -> Sequence[Endpoint]:
        """Oldest first."""
        number = caller.number
        answer = await self.questions.ask(
            ListEndpoints(tenant_id=caller.tenant_id, number_id=number.number_id if number else None)
        )
        if not isinstance(answer, Endpoints):
            raise RefusedError(Refusal.OWNER_UNAVAILABLE)
        return answer.endpoints
