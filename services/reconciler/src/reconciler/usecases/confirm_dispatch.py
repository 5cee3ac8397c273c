"""The second half of a pass: what left and was not confirmed is asked about, and what is open too long ends."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Counter

from chassis.database import Database
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from reconciler.domain.overdue import REPEATS_FROM, final_verdict, verify
from reconciler.store import confirming
from reconciler.usecases.reconcile import lost_total

logger = get_logger(__name__)

verified_total = Counter(
    "pilot_reconciler_verified_total",
    "Messages whose gateway was asked for proof, by whether their WhatsApp id is known.",
    ["key_id"],
    registry=registry,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmDispatch:
    """`grace` is how long a message may wait for its receipt, `age_max` how long it may be open. Nothing is resent."""

    database: Database
    grace: timedelta
    age_max: timedelta
    batch_size: int = 500

    async def step(self, now: datetime | None = None) -> bool:
        """One batch of each kind; True if there may be more. `now` is for tests, else the database's clock counts."""
        async with self.database.transaction() as tx:
            overaged = await confirming.claim_overaged(tx, age_max=self.age_max, limit=self.batch_size, now=now)
            verdicts = [final_verdict(item) for item in overaged]
            tx.emit(*verdicts)
        for lost in verdicts:
            lost_total.labels(error_code=lost.error_code.value).inc()
            logger.error("message_overaged", message_id=lost.ref.message_id, error_code=lost.error_code.value)
        async with self.database.transaction() as tx:
            found = await confirming.claim_unconfirmed(tx, grace=self.grace, limit=self.batch_size, now=now)
            tx.emit(*(verify(item) for item in found))
        for item in found:
            verified_total.labels(key_id="known" if item.key_id else "unknown").inc()
            if item.verifies >= REPEATS_FROM:
                logger.warning("message_verified_again", message_id=item.ref.message_id, attempts=item.verifies)
        return self.batch_size in (len(overaged), len(found))
