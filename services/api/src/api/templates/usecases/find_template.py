"""Finding the template a send names."""

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from api.templates import store
from api.templates.domain import Template
from chassis.database import Database
from chassis.ttl_cache import TtlCache


@dataclass(frozen=True, slots=True, kw_only=True)
class FindTemplate:
    """By id or friendly name: the project's own, or else one of the same tenant, which says so.

    Remembered for a few seconds.
    """

    database: Database
    templates: TtlCache[tuple[UUID, str], Template]

    async def find(self, project_id: UUID, id_or_name: str) -> Template | None:
        """None if no project of the tenant has such a template."""
        return await self.templates.get_or_load(
            (project_id, id_or_name), partial(self._load, project_id=project_id, id_or_name=id_or_name)
        )

    async def _load(self, *, project_id: UUID, id_or_name: str) -> Template | None:
        async with self.database.transaction() as tx:
            return await store.find_template(tx, project_id=project_id, name=id_or_name, template_id=as_id(id_or_name))


def as_id(text: str) -> UUID | None:
    """The id in `text`, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None
