"""What operators do with any tenant's endpoints and their deliveries; the notifier carries it out."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.webhooks.domain import DeliveryFilter, ReplayRange
from api.webhooks.usecases.ask_notifier import Questions, ask_notifier
from contracts.delivery_questions import (
    Deliveries,
    DeliveriesReplayed,
    ListDeliveries,
    LocateEndpoint,
    ReplayDeliveries,
    ReplayDelivery,
)
from contracts.questions import ChangeEndpoint, Endpoint, EndpointFound, Endpoints, ListEndpoints


@dataclass(frozen=True, slots=True, kw_only=True)
class OperateEndpoints:
    """An operator names an endpoint, not its tenant: it is looked up first."""

    questions: Questions

    async def of_tenant(self, tenant_id: UUID) -> Sequence[Endpoint]:
        """A tenant's endpoints, oldest first; of an unknown tenant none."""
        return (await ask_notifier(self.questions, ListEndpoints(tenant_id=tenant_id), Endpoints)).endpoints

    async def find(self, endpoint_id: UUID) -> Endpoint:
        """Raises `RefusedError(WEBHOOK_NOT_FOUND)`."""
        question = LocateEndpoint(endpoint_id=endpoint_id)
        return (await ask_notifier(self.questions, question, EndpointFound)).endpoint

    async def deliveries(self, endpoint: Endpoint, wanted: DeliveryFilter) -> Deliveries:
        """One page, newest first."""
        question = ListDeliveries(tenant_id=endpoint.tenant_id, endpoint_id=endpoint.endpoint_id, **wanted.fields())
        return await ask_notifier(self.questions, question, Deliveries)

    async def replay(self, endpoint: Endpoint, delivery_id: UUID) -> DeliveriesReplayed:
        """The delivery is due now."""
        question = ReplayDelivery(
            tenant_id=endpoint.tenant_id, endpoint_id=endpoint.endpoint_id, delivery_id=delivery_id
        )
        return await ask_notifier(self.questions, question, DeliveriesReplayed)

    async def replay_range(self, endpoint: Endpoint, wanted: ReplayRange) -> DeliveriesReplayed:
        """The oldest of the range, as many as one request may bring."""
        question = ReplayDeliveries(tenant_id=endpoint.tenant_id, endpoint_id=endpoint.endpoint_id, **wanted.fields())
        return await ask_notifier(self.questions, question, DeliveriesReplayed)

    async def enable(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint as it is now: what waited for it goes out."""
        question = ChangeEndpoint(tenant_id=endpoint.tenant_id, endpoint_id=endpoint.endpoint_id, active=True)
        return (await ask_notifier(self.questions, question, EndpointFound)).endpoint
