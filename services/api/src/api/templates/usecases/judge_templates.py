"""What an operator decides about versions of templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.refusals import Refusal, RefusedError
from api.templates import store
from api.templates.domain import StoredTemplate, Version, VersionState, check_state
from chassis.database import Database, Transaction

WAITING_MAX = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWaitingTemplates:
    """What waits for a decision."""

    database: Database

    async def list(self) -> Sequence[StoredTemplate]:
        """The 500 oldest templates whose newest version was submitted."""
        async with self.database.transaction() as tx:
            return await store.list_waiting(tx, limit=WAITING_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTemplate:
    """Decisions are about the newest version; `version`, if given, says which one the operator has read.

    The door they come through has locked the versions.
    """

    database: Database

    async def approve(self, template_id: UUID, *, version: int | None) -> StoredTemplate:
        """From now on TEST keys can send it, and LIVE keys once it is approved for production."""
        return await self._decide(template_id, version=version, state=VersionState.APPROVED)

    async def reject(self, template_id: UUID, *, version: int | None, reason: str) -> StoredTemplate:
        """The author reads the reason and may write another text."""
        return await self._decide(template_id, version=version, state=VersionState.REJECTED, reason=reason)

    async def approve_for_production(self, template_id: UUID, *, approved: bool) -> StoredTemplate:
        """Let LIVE keys send the newest approved version, or stop them."""
        async with self.database.transaction() as tx:
            template = await _found(tx, template_id)
            version = check_state(template.approved, VersionState.APPROVED)
            await store.save_production_approval(
                tx, template_id=template_id, version=version.version, approved=approved
            )
            return await _found(tx, template_id)

    async def _decide(
        self, template_id: UUID, *, version: int | None, state: VersionState, reason: str | None = None
    ) -> StoredTemplate:
        async with self.database.transaction() as tx:
            template = await _found(tx, template_id)
            decided = check_state(_newest(template, version), VersionState.SUBMITTED)
            await store.save_state(tx, template_id=template_id, version=decided.version, state=state, reason=reason)
            return await _found(tx, template_id)


def _newest(template: StoredTemplate, version: int | None) -> Version | None:
    latest = template.latest
    return latest if latest is not None and version in (None, latest.version) else None


async def _found(tx: Transaction, template_id: UUID) -> StoredTemplate:
    template = await store.find_stored(tx, template_id=template_id)
    if template is None:
        raise RefusedError(Refusal.TEMPLATE_NOT_FOUND)
    return template
