"""The places of a lane: a call that stays unanswered gives its own back while it goes on waiting."""

from datetime import datetime
from typing import Any

from chassis.database import Transaction
from dispatcher.domain.jobs import Attempt
from dispatcher.store.sql import sql

_FENCE = """job.message_id = :message_id AND job.round = :round AND job.state = 'IN_FLIGHT'
           AND job.attempt = :attempt AND job.lease_token = :lease_token AND NOT job.place_given_up"""

_LOCK_HELD = sql(
    "SELECT true FROM dispatcher.jobs AS job WHERE {fence} FOR UPDATE",
    fence=_FENCE,
)

_GIVE_UP = sql(
    """
    UPDATE dispatcher.jobs AS job
       SET place_given_up = true, updated_at = {now}
      FROM dispatcher.lanes AS lane
     WHERE {fence} AND lane.instance = job.instance AND lane.state = 'OPEN' AND lane.probe_failures = 0
       AND (SELECT count(*) FROM dispatcher.jobs AS other
             WHERE other.instance = job.instance AND other.state = 'IN_FLIGHT' AND other.place_given_up) < :places_max
    """,
    fence=_FENCE,
)


async def lock_held(tx: Transaction, attempt: Attempt) -> bool:
    """Lock the job of an attempt that is under way and holds its place; False if it does not."""
    return (await tx.execute(_LOCK_HELD, _identity(attempt))).one_or_none() is not None


async def give_up(tx: Transaction, attempt: Attempt, *, places_max: int, now: datetime | None) -> bool:
    """Mark that the attempt holds no place any more, if its lane may send freely and has fewer than `places_max` such.

    The lane is locked already, so that its other calls cannot do the same meanwhile, unseen.
    """
    parameters = {**_identity(attempt), "places_max": places_max, "now": now}
    return (await tx.execute(_GIVE_UP, parameters)).rowcount > 0


def _identity(attempt: Attempt) -> dict[str, Any]:
    return {
        "message_id": attempt.ref.message_id,
        "round": attempt.ref.round,
        "attempt": attempt.attempt,
        "lease_token": attempt.lease_token,
    }
