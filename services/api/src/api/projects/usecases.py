"""What a client does with the projects of its tenant."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.access.domain import Caller
from api.accounts import store
from api.accounts.domain import Project
from api.accounts.usecases import open_project
from chassis.database import Database

PROJECTS_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageProjects:
    """Projects are the tenant's, whichever of its keys asks; only an operator approves one for production."""

    database: Database

    async def list(self, caller: Caller) -> Sequence[Project]:
        """The first 1,000 of the tenant, oldest first."""
        async with self.database.transaction() as tx:
            return await store.list_projects(tx, caller.tenant_id, limit=PROJECTS_MAX)

    async def open(self, caller: Caller, *, name: str, description: str) -> Project:
        """The new project; TEST only until it is approved."""
        async with self.database.transaction() as tx:
            return await open_project(
                tx, tenant_id=caller.tenant_id, name=name, description=description, production_approved=False
            )
