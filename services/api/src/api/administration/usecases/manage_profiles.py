"""Managing profiles: whom a tenant's TEST keys may send to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from api.administration.domain import Page, Profile, SealedRow
from api.administration.store import accounts, profiles
from api.profiles import store as profiles_store
from api.recipients.domain import normalise
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from chassis.seal import KeyRing, Pepper
from contracts.ids import uuid7
from contracts.matching import RECIPIENT_PURPOSE
from gateways.recipients import recipient_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageProfiles:
    """The phone rests sealed, and is compared by hash."""

    database: Database
    keys: KeyRing
    pepper: Pepper = field(repr=False)

    async def create(self, *, tenant_id: UUID, name: str, phone: str) -> Profile:
        """Raises `RefusedError` for an unknown tenant, a phone that is none, or one the tenant has already."""
        profile_id = uuid7()
        async with self.database.transaction() as tx:
            tenant = await accounts.find_tenant(tx, tenant_id)
            if tenant is None:
                raise RefusedError(Refusal.TENANT_NOT_FOUND, field="tenantId")
            digits = normalise(phone, default_country=tenant.default_country, field="phone")
            stored = await profiles_store.insert_profile(
                tx,
                profile_id=profile_id,
                tenant_id=tenant_id,
                name=name,
                sealed_phone=self.keys.seal(digits.encode(), aad=profile_id.bytes),
                recipient_hash=self.pepper.hash(recipient_key(digits), purpose=RECIPIENT_PURPOSE),
            )
            if not stored:
                raise RefusedError(Refusal.ALREADY_EXISTS, "The tenant already has a profile with this phone.")
            return opened(await profiles.find_profile(tx, profile_id), self.keys)

    async def rename(self, profile_id: UUID, name: str) -> Profile:
        """The profile as it is now; raises `RefusedError(PROFILE_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return opened(await profiles.rename_profile(tx, profile_id, name), self.keys)

    async def delete(self, profile_id: UUID) -> None:
        """Raises `RefusedError(PROFILE_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            if not await profiles.delete_profile(tx, profile_id):
                raise RefusedError(Refusal.PROFILE_NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProfiles:
    """Opens the seals for an authorised reader."""

    database: Database
    keys: KeyRing

    async def page(self, page: Page, *, tenant_id: UUID | None) -> Sequence[Profile]:
        """Newest first."""
        async with self.database.transaction() as tx:
            found = await profiles.list_profiles(tx, page, tenant_id=tenant_id)
        return [opened(row, self.keys) for row in found]

    async def one(self, profile_id: UUID) -> Profile:
        """Raises `RefusedError(PROFILE_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return opened(await profiles.find_profile(tx, profile_id), self.keys)


def opened(row: SealedRow | None, keys: KeyRing) -> Profile:
    """The profile with its phone; raises `RefusedError(PROFILE_NOT_FOUND)` for none."""
    if row is None:
        raise RefusedError(Refusal.PROFILE_NOT_FOUND)
    assert row.sealed_phone is not None
    return Profile(phone=keys.open(row.sealed_phone, aad=row.fields["profile_id"].bytes).decode(), **row.fields)
