"""Owes an endpoint a test delivery, which then takes the way of all others: signed, tried again, logged."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from chassis.telemetry.logs import get_logger
from contracts.ids import uuid7
from contracts.questions import Rejected, TrialPlanned, TryEndpoint
from notifier.domain.endpoints import unknown
from notifier.domain.settlement import Planned
from notifier.domain.trial import TRIAL_EVENT, judge_trial, trial_body, trial_ref
from notifier.store import deliveries, endpoints

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TryWebhook:
    """Asked again within a few seconds it answers with the delivery that is owed already."""

    database: Database
    ring: KeyRing
    planned: Callable[[], None]
    clock: Clock
    new_id: Callable[[], UUID] = uuid7

    async def __call__(self, asked: TryEndpoint) -> TrialPlanned | Rejected:
        """The delivery, or why there is none."""
        now, delivery_id = self.clock(), self.new_id()
        async with self.database.transaction() as tx:
            endpoint = await endpoints.find_endpoint(
                tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id, lock=True
            )
            if endpoint is None:
                return unknown()
            rejected = judge_trial(endpoint)
            if rejected is not None:
                return rejected
            owed = Planned(
                delivery_id=delivery_id,
                endpoint_id=endpoint.endpoint_id,
                ref=trial_ref(asked, endpoint, now=now),
                version=1,
                event=TRIAL_EVENT,
                changed_at=now,
                sealed_body=self.ring.seal(
                    trial_body(endpoint, delivery_id=delivery_id, now=now), aad=delivery_id.bytes
                ),
            )
            await deliveries.plan(tx, [owed])
            owed_id = await deliveries.find_owed(tx, endpoint.endpoint_id, owed.ref, version=owed.version)
        self.planned()
        logger.info("endpoint_tried", endpoint_id=asked.endpoint_id)
        return TrialPlanned(endpoint_id=endpoint.endpoint_id, delivery_id=owed_id, event=TRIAL_EVENT)
