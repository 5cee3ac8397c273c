"""The one door through which operators change things: the change and its entry in the log are one commit."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from api.operators.domain import Action, AuditEntry, Operator, Target, authorise
from api.operators.store import audit
from api.operators.tables import Audited
from chassis.joining import JoinedDatabase
from contracts.ids import uuid7

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Use cases behind it are built with `database`, which opens nothing for work that did not come through here.

    `audited` says what the log may show of each target: never personal data, never a secret.
    """

    database: JoinedDatabase
    audited: Mapping[Target, Audited]

    def open(self, action: Action, operator: Operator, *, request_id: str) -> "Change":
        """The right to make one change; raises `RefusedError(OPERATOR_ROLE_NOT_ALLOWED)`."""
        authorise(operator, action.role)
        return Change(door=self, action=action, operator=operator, request_id=request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change an operator is allowed to make."""

    door: Door
    action: Action
    operator: Operator
    request_id: str

    async def of(self, target_id: UUID, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do `work` on a target that exists."""
        audited = self.door.audited[self.action.target]
        async with self.door.database.together() as tx:
            before = await audit.snapshot(tx, audited, target_id, lock=True)
            result = await work()
            after = await audit.snapshot(tx, audited, target_id, lock=False)
            await audit.insert_entry(tx, self._entry(target_id, before=before, after=after))
        return result

    async def creating(self, work: Callable[[], Awaitable[Result]], *, id_of: Callable[[Result], UUID]) -> Result:
        """Do `work`, which makes a target; `id_of` tells its id from the result."""
        audited = self.door.audited[self.action.target]
        async with self.door.database.together() as tx:
            result = await work()
            target_id = id_of(result)
            after = await audit.snapshot(tx, audited, target_id, lock=False)
            await audit.insert_entry(tx, self._entry(target_id, before=None, after=after))
        return result

    async def announce(
        self, target_id: UUID, *, asked: Mapping[str, Any], before: Mapping[str, Any] | None = None
    ) -> None:
        """Log what another service is about to be asked: written first, so that no change goes unlogged.

        It is logged even where that service then declines. Both mappings must be fit for the log.
        """
        known = None if before is None else [before]
        async with self.door.database.together() as tx:
            await audit.insert_entry(tx, self._entry(target_id, before=known, after=[{"asked": dict(asked)}]))

    def _entry(self, target_id: UUID, *, before: audit.Shown, after: audit.Shown) -> AuditEntry:
        return AuditEntry(
            entry_id=uuid7(),
            operator_id=self.operator.operator_id,
            action=self.action.label,
            target_type=self.action.target.value,
            target_id=target_id,
            before=before,
            after=after,
            request_id=self.request_id,
        )
