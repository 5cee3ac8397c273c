"""What a client does with the deliveries to its endpoints: look at them, and have them made once more."""

from dataclasses import dataclass
from uuid import UUID

from api.webhooks.domain import Asking, DeliveryFilter, ReplayRange
from api.webhooks.usecases.ask_notifier import ask_notifier
from api.webhooks.usecases.manage_endpoints import ManageEndpoints
from contracts.delivery_questions import (
    Deliveries,
    DeliveriesReplayed,
    ListDeliveries,
    ReplayDeliveries,
    ReplayDelivery,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOwn:
    """Within the same reach as the endpoints themselves."""

    endpoints: ManageEndpoints

    async def list(self, asking: Asking, endpoint_id: UUID, wanted: DeliveryFilter) -> Deliveries:
        """One page, newest first."""
        reach = await self.endpoints.reach(asking)
        question = ListDeliveries(endpoint_id=endpoint_id, **reach, **wanted.fields())
        return await ask_notifier(self.endpoints.questions, question, Deliveries)

    async def one(self, asking: Asking, endpoint_id: UUID, delivery_id: UUID) -> DeliveriesReplayed:
        """The delivery is due now."""
        reach = await self.endpoints.reach(asking)
        question = ReplayDelivery(endpoint_id=endpoint_id, delivery_id=delivery_id, **reach)
        return await ask_notifier(self.endpoints.questions, question, DeliveriesReplayed)

    async def range(self, asking: Asking, endpoint_id: UUID, wanted: ReplayRange) -> DeliveriesReplayed:
        """The oldest of the range, as many as one request may bring."""
        reach = await self.endpoints.reach(asking)
        question = ReplayDeliveries(endpoint_id=endpoint_id, **reach, **wanted.fields())
        return await ask_notifier(self.endpoints.questions, question, DeliveriesReplayed)
