"""Counting messages by local day and status, in one pass over one index."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, DateTime, Uuid, bindparam, text

from api.analytics.domain import DayCount
from chassis.database import Transaction
from contracts.status import Status

COUNT_BY_DAY = text("""
SELECT width_bucket(m.accepted_at, :midnights) - 1 AS day, m.status, count(*) AS messages
  FROM api.messages m
 WHERE m.project_id = :project_id AND m.number_id = :number_id
   AND m.accepted_at >= :start AND m.accepted_at < :end
 GROUP BY 1, 2
""").bindparams(
    bindparam("midnights", type_=ARRAY(DateTime(timezone=True))),
    bindparam("project_id", type_=Uuid),
    bindparam("number_id", type_=Uuid),
    bindparam("start", type_=DateTime(timezone=True)),
    bindparam("end", type_=DateTime(timezone=True)),
)


async def count_by_day(
    tx: Transaction, *, project_id: UUID, number_id: UUID, midnights: Sequence[datetime]
) -> list[DayCount]:
    """Messages accepted between the first and the last midnight; days count from 0."""
    parameters = {
        "midnights": list(midnights),
        "project_id": project_id,
        "number_id": number_id,
        "start": midnights[0],
        "end": midnights[-1],
    }
    rows = await tx.execute(COUNT_BY_DAY, parameters)
    return [DayCount(day=row.day, status=Status(row.status), count=row.messages) for row in rows]
