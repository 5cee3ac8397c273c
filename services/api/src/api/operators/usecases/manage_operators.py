"""Managing operators: an administrator's work."""

import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.operators.domain import ListedOperator, OperatorKeyParts, Role
from api.operators.store import operators
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from contracts.ids import uuid7

_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageOperators:
    """Creates, changes and revokes; a raw key exists only in the answer that creates it."""

    database: Database

    async def create(self, *, name: str, role: Role) -> tuple[UUID, str]:
        """The new operator's id and its raw key."""
        public_id = "".join(secrets.choice(_ALPHABET) for _ in range(12))
        parts = OperatorKeyParts(public_id=public_id, secret=secrets.token_urlsafe(32))
        operator_id = uuid7()
        async with self.database.transaction() as tx:
            await operators.insert_operator(tx, operator_id=operator_id, parts=parts, name=name, role=role)
        return operator_id, parts.raw()

    async def change(self, operator_id: UUID, *, name: str | None, role: Role | None) -> ListedOperator:
        """The operator as it is now; raises `RefusedError(OPERATOR_NOT_FOUND)`, also for a revoked one."""
        async with self.database.transaction() as tx:
            changed = await operators.change_operator(tx, operator_id, name=name, role=role)
        return _found(changed)

    async def revoke(self, operator_id: UUID) -> None:
        """Its key opens nothing any more; raises `RefusedError(OPERATOR_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            if not await operators.revoke_operator(tx, operator_id):
                raise RefusedError(Refusal.OPERATOR_NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOperators:
    """Shows operators to operators."""

    database: Database

    async def page(self, *, after: UUID | None, limit: int) -> Sequence[ListedOperator]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await operators.list_operators(tx, after=after, limit=limit)

    async def one(self, operator_id: UUID) -> ListedOperator:
        """Raises `RefusedError(OPERATOR_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return _found(await operators.read_operator(tx, operator_id))


def _found(operator: ListedOperator | None) -> ListedOperator:
    if operator is None:
        raise RefusedError(Refusal.OPERATOR_NOT_FOUND)
    return operator
