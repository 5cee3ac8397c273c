"""Writes the ends of many attempts in one transaction, together with the facts about deliveries that are over."""

from collections.abc import Sequence

from chassis.database import Transaction
from notifier.domain.delivery import fact_of
from notifier.domain.settlement import Settlement, outcomes_of
from notifier.store import deliveries


async def settle_attempts(tx: Transaction, settlements: Sequence[Settlement]) -> Sequence[bool]:
    """One answer per attempt: False if its lease was lost, so that only its log row was written."""
    ours = await deliveries.settle(tx, settlements)
    settled = [settlement for settlement in settlements if settlement.claimed.delivery_id in ours]
    await deliveries.log_attempts(tx, settlements)
    await deliveries.record_outcomes(tx, outcomes_of(settled))
    for settlement in settled:
        fact = fact_of(settlement.claimed, settlement.verdict, now=settlement.ended_at)
        if fact is not None:
            tx.emit(fact)
    return [settlement.claimed.delivery_id in ours for settlement in settlements]
