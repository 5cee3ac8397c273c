"""Writes the ends of many attempts in one transaction, together with the facts about deliveries that are over."""

from collections.abc import Sequence

from chassis.database import Transaction
from chassis.telemetry.logs import get_logger
from notifier.domain.delivery import fact_of
from notifier.domain.settlement import Settlement, outcomes_of
from notifier.store import deliveries

logger = get_logger(__name__)


async def settle_attempts(tx: Transaction, settlements: Sequence[Settlement]) -> Sequence[bool]:
    """One answer per attempt: False if its lease was lost, so that only its log row was written."""
    ours = await deliveries.settle(tx, settlements)
    settled = [settlement for settlement in settlements if settlement.claimed.delivery_id in ours]
    await deliveries.log_attempts(tx, settlements)
    switched_off = await deliveries.record_outcomes(tx, outcomes_of(settled))
    for settlement in settled:
        fact = fact_of(settlement.claimed, settlement.verdict, now=settlement.ended_at)
        if fact is not None:
            tx.emit(fact)
    for endpoint in switched_off:
        tx.emit(endpoint.fact())
        logger.warning("endpoint_disabled", endpoint_id=endpoint.endpoint_id, reason=endpoint.reason)
    return [settlement.claimed.delivery_id in ours for settlement in settlements]
