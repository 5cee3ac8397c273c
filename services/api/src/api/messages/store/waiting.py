"""Messages of all tenants that should have left by now, for the operators."""

from sqlalchemy import null, select, text

from api.messages.domain.details import StoredMessage
from api.messages.domain.overdue import Overdue
from api.messages.store.rows import stored
from api.messages.tables import MESSAGES, OPEN
from chassis.database import Transaction


async def list_overdue(tx: Transaction, wanted: Overdue, *, limit: int) -> list[StoredMessage]:
    """Longest known first, without contents. It reads the index of open messages, whoever they belong to."""
    columns = MESSAGES.c
    narrowing = [
        (columns.tenant_id, wanted.tenant_id),
        (columns.project_id, wanted.project_id),
        (columns.number_id, wanted.number_id),
    ]
    shown = [column for column in columns if column.name != "sealed"]
    query = select(*shown, null().label("sealed")).where(
        text(OPEN), columns.deliver_by <= wanted.due_before, *(column == one for column, one in narrowing if one)
    )
    if wanted.after is not None:
        query = query.where(columns.id > wanted.after)
    rows = (await tx.execute(query.order_by(columns.id).limit(limit))).mappings()
    return [stored(row) for row in rows]
