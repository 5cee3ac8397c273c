"""Gives back the turns of jobs that ended before they had one, so that no tenant pays for what went stale."""

from collections.abc import Sequence

from chassis.database import Transaction
from dispatcher.store import flows, intake
from dispatcher.store.flows import UnusedTurn


async def refund_turns(tx: Transaction, unused: Sequence[UnusedTurn]) -> None:
    """Takes the locks of the lanes, after those of the jobs."""
    if unused:
        await intake.lock_lanes(tx, [one.instance for one in unused])
        await flows.refund(tx, unused)
