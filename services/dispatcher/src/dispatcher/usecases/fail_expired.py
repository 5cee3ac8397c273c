"""Fails what was not sent in time, beside the claim: the claim itself never takes what is late."""

from collections.abc import Sequence
from dataclasses import dataclass

from chassis.database import Database, Transaction
from contracts.facts import MessageDispatchFailed
from dispatcher.store import failing
from dispatcher.store.failing import FailedJob
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import EXPIRED
from dispatcher.usecases.refund_turns import refund_turns

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FailExpired:
    """Jobs whose delivery window closed fail, whether their lane can send or not."""

    database: Database
    clock: Clock = None

    async def __call__(self) -> int:
        """How many, at most one batch."""
        async with self.database.transaction() as tx:
            failed = await failing.fail_expired(tx, limit=BATCH, now=given(self.clock))
            await end_failed(tx, failed)
        EXPIRED.inc(len(failed))
        return len(failed)


async def end_failed(tx: Transaction, failed: Sequence[FailedJob]) -> None:
    """Say it of each, and give back the turns they did not have."""
    await refund_turns(tx, [one.unused for one in failed if one.unused is not None])
    tx.emit(
        *(
            MessageDispatchFailed(ref=one.ref, attempt=one.attempt, error_code=one.code, failed_at=one.failed_at)
            for one in failed
        )
    )
