"""Which messages an operator looks for among those that have not left."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """Due before an instant and still not sent; the ids narrow it. `after` is where the page before ended."""

    due_before: datetime
    tenant_id: UUID | None = None
    project_id: UUID | None = None
    number_id: UUID | None = None
    after: UUID | None = None
