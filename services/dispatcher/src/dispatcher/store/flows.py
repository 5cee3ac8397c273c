"""What each tenant has used up of a lane's turns, as far as jobs that leave READY without one change it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import RowMapping

from chassis.database import Transaction
from dispatcher.store.sql import rows_json, sql

UNUSED = "job.state = 'READY' AND job.attempt = 0"
"""A turn was paid for and never had; what came back has had its own."""

_REFUND = sql("""
    UPDATE dispatcher.flows AS flow SET finish = flow.finish - unused.cost
      FROM (SELECT instance, rank, tenant_id, sum(1.0::double precision / weight) AS cost
              FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(
                   instance text, rank smallint, tenant_id uuid, weight integer)
             GROUP BY instance, rank, tenant_id) AS unused
     WHERE flow.instance = unused.instance AND flow.rank = unused.rank AND flow.tenant_id = unused.tenant_id
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedTurn:
    """A turn that a job had been given a place for."""

    instance: str
    rank: int
    tenant_id: UUID
    weight: int


def unused_turn(row: RowMapping) -> UnusedTurn | None:
    """From the row of a job that ended, with `is_unused` as it was before."""
    if not row["is_unused"]:
        return None
    return UnusedTurn(
        instance=row["instance"], rank=row["rank"], tenant_id=row["tenant_id"], weight=row["tenant_weight"]
    )


async def refund(tx: Transaction, unused: Sequence[UnusedTurn]) -> None:
    """`fairness.refunded` for the flows of locked lanes."""
    rows = [
        {"instance": one.instance, "rank": one.rank, "tenant_id": one.tenant_id, "weight": one.weight} for one in unused
    ]
    await tx.execute(_REFUND, {"rows": rows_json(rows)})
