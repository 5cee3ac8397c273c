"""Managing opt-ins of any project: what operators are told outside of the platform."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from api.accounts.store import find_project
from api.administration.domain import OptIn, Page, SealedRow
from api.administration.store import accounts, opt_ins
from api.optins import store as optins_store
from api.recipients.domain import normalise
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database, Transaction
from chassis.seal import KeyRing, Pepper
from contracts.ids import uuid7
from contracts.matching import RECIPIENT_PURPOSE
from gateways.recipients import recipient_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageOptIns:
    """The phone rests sealed, and is compared by hash."""

    database: Database
    keys: KeyRing
    pepper: Pepper = field(repr=False)
    clock: Clock

    async def grant(self, *, project_id: UUID, destination: str) -> OptIn:
        """Consent from now on; raises `RefusedError` for an unknown project or a phone that is none."""
        opt_in_id = uuid7()
        async with self.database.transaction() as tx:
            tenant_id, digits = await self._recipient(tx, project_id, destination)
            granted_id = await optins_store.grant(
                tx,
                opt_in_id=opt_in_id,
                project_id=project_id,
                tenant_id=tenant_id,
                sealed_phone=self.keys.seal(digits.encode(), aad=opt_in_id.bytes),
                recipient_hash=self.pepper.hash(recipient_key(digits), purpose=RECIPIENT_PURPOSE),
                now=self.clock(),
            )
            return opened(await opt_ins.find_opt_in(tx, granted_id), self.keys)

    async def revoke(self, opt_in_id: UUID) -> OptIn:
        """No consent from now on; raises `RefusedError(OPT_IN_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return opened(await opt_ins.revoke(tx, opt_in_id), self.keys)

    async def _recipient(self, tx: Transaction, project_id: UUID, destination: str) -> tuple[UUID, str]:
        project = await find_project(tx, project_id)
        tenant = await accounts.find_tenant(tx, project.tenant_id) if project else None
        if tenant is None:
            raise RefusedError(Refusal.PROJECT_NOT_FOUND, field="projectId")
        return tenant.tenant_id, normalise(destination, default_country=tenant.default_country, field="phone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptIns:
    """Opens the seals for an authorised reader."""

    database: Database
    keys: KeyRing

    async def page(self, page: Page, *, tenant_id: UUID | None, project_id: UUID | None) -> Sequence[OptIn]:
        """Newest first, revoked ones included."""
        async with self.database.transaction() as tx:
            found = await opt_ins.list_opt_ins(tx, page, tenant_id=tenant_id, project_id=project_id)
        return [opened(row, self.keys) for row in found]

    async def one(self, opt_in_id: UUID) -> OptIn:
        """Raises `RefusedError(OPT_IN_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return opened(await opt_ins.find_opt_in(tx, opt_in_id), self.keys)


def opened(row: SealedRow | None, keys: KeyRing) -> OptIn:
    """The opt-in with its phone; raises `RefusedError(OPT_IN_NOT_FOUND)` for none."""
    if row is None:
        raise RefusedError(Refusal.OPT_IN_NOT_FOUND)
    phone = None
    if row.sealed_phone is not None:
        phone = keys.open(row.sealed_phone, aad=row.fields["opt_in_id"].bytes).decode()
    return OptIn(phone=phone, **row.fields)
