"""Shows what an endpoint was owed, and makes one or many of its deliveries once more."""

from collections.abc import Callable
from dataclasses import dataclass

from chassis.database import Database, Transaction
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from contracts.delivery_questions import (
    REPLAYED_MAX,
    AboutEndpoint,
    Deliveries,
    DeliveriesReplayed,
    ListDeliveries,
    LocateEndpoint,
    ReplayDeliveries,
    ReplayDelivery,
)
from contracts.questions import Endpoint, EndpointFound, Rejected
from notifier.domain.endpoints import unknown
from notifier.domain.replay import Stored, judge_delivery, judge_endpoint
from notifier.store import endpoints, replays

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayWebhooks:
    """The same id, body and place in its message's order; attempts go on counting, and the schedule begins anew.

    The endpoint is locked meanwhile, so that no claim runs between.
    """

    database: Database
    ring: KeyRing
    replayed: Callable[[], None]
    at_once_max: int = REPLAYED_MAX

    async def locate(self, asked: LocateEndpoint) -> EndpointFound | Rejected:
        """Any tenant's endpoint."""
        async with self.database.transaction() as tx:
            endpoint = await endpoints.locate_endpoint(tx, asked.endpoint_id)
        return EndpointFound(endpoint=endpoint) if endpoint else unknown()

    async def list(self, asked: ListDeliveries) -> Deliveries | Rejected:
        """One page of deliveries."""
        async with self.database.transaction() as tx:
            endpoint = await _find(tx, asked, lock=False)
            if endpoint is None:
                return unknown()
            found = await replays.list_deliveries(tx, asked)
        return Deliveries(endpoint_id=asked.endpoint_id, deliveries=tuple(found))

    async def one(self, asked: ReplayDelivery) -> DeliveriesReplayed | Rejected:
        """The delivery is due now."""
        async with self.database.transaction() as tx:
            endpoint = await _find(tx, asked, lock=True)
            rejected = judge_endpoint(endpoint) if endpoint else unknown()
            if rejected is not None:
                return rejected
            stored = await replays.find_delivery(tx, asked.endpoint_id, asked.delivery_id)
            rejected = judge_delivery(stored, is_readable=self._is_readable)
            if rejected is not None:
                return rejected
            again = await replays.owe_again(tx, [asked.delivery_id])
        return self._told(DeliveriesReplayed(endpoint_id=asked.endpoint_id, delivery_ids=tuple(again)))

    async def range(self, asked: ReplayDeliveries) -> DeliveriesReplayed | Rejected:
        """As many as one question may bring, oldest first, and where the next one goes on."""
        async with self.database.transaction() as tx:
            endpoint = await _find(tx, asked, lock=True)
            rejected = judge_endpoint(endpoint) if endpoint else unknown()
            if rejected is not None:
                return rejected
            taken = await replays.take_range(tx, asked, limit=self.at_once_max)
            good = [one for one in taken if judge_delivery(one, is_readable=self._is_readable) is None]
            again = await replays.owe_again(tx, [one.delivery_id for one in good])
        more = len(taken) == self.at_once_max
        return self._told(
            DeliveriesReplayed(
                endpoint_id=asked.endpoint_id,
                delivery_ids=tuple(again),
                skipped=tuple(one.delivery_id for one in taken if one not in good),
                next_after=taken[-1].delivery_id if more else None,
            )
        )

    def _told(self, replayed: DeliveriesReplayed) -> DeliveriesReplayed:
        self.replayed()
        logger.info("deliveries_replayed", endpoint_id=replayed.endpoint_id, count=len(replayed.delivery_ids))
        return replayed

    def _is_readable(self, stored: Stored) -> bool:
        """What was erased, or sealed with a key that is gone, is not."""
        try:
            self.ring.open(stored.sealed_body, aad=stored.delivery_id.bytes)
        except SealError:
            return False
        return True


async def _find(tx: Transaction, asked: AboutEndpoint, *, lock: bool) -> Endpoint | None:
    return await endpoints.find_endpoint(
        tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id, lock=lock
    )
