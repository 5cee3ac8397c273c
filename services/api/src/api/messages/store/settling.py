"""Remembering which messages were given back to their tenant's limits."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import ARRAY, Boolean, Uuid, bindparam, text

from chassis.database import Transaction

MARK = text("""
UPDATE api.messages m SET usage_returned = w.returned FROM unnest(:ids, :returned) AS w(id, returned) WHERE m.id = w.id
""").bindparams(bindparam("ids", type_=ARRAY(Uuid)), bindparam("returned", type_=ARRAY(Boolean)))


async def mark_returned(tx: Transaction, returned: Mapping[UUID, bool]) -> None:
    """The rows are locked already by the statement that moved their status."""
    if returned:
        await tx.execute(MARK, {"ids": list(returned), "returned": list(returned.values())})
