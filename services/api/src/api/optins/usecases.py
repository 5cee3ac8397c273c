"""Asking, recording and withdrawing the consent of recipients to a project."""

from dataclasses import dataclass, field

from api.access.domain import Caller
from api.optins import store
from api.optins.domain import OptInReason, OptInStatus, skip_reason, status_of
from api.recipients.domain import normalise
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing, Pepper
from contracts.ids import uuid7
from contracts.matching import RECIPIENT_PURPOSE
from gateways.recipients import recipient_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageOptIns:
    """A client's view of consent to its own project."""

    database: Database
    keys: KeyRing
    pepper: Pepper = field(repr=False)
    clock: Clock
    enabled: bool

    async def status(self, destination: str, caller: Caller) -> OptInStatus:
        """Whether a send to this recipient would pass; an invalid phone number is a reason, not an error."""
        skipped = self._skipped(caller)
        try:
            phone = normalise(destination, default_country=caller.allowance.default_country)
        except RefusedError:
            required = skipped is None
            return OptInStatus(
                enabled=self.enabled, required=required, authorized=False, reason=OptInReason.INVALID_PHONE
            )
        async with self.database.transaction() as tx:
            opt_in = await store.find_opt_in(tx, project_id=caller.project_id, recipient_hash=self._hash(phone))
        return status_of(skipped, opt_in=opt_in)

    async def grant(self, destination: str, caller: Caller) -> OptInStatus:
        """Record that the recipient agreed; doing it again only says that it was seen."""
        phone = normalise(destination, default_country=caller.allowance.default_country)
        opt_in_id, recipient_hash = uuid7(), self._hash(phone)
        async with self.database.transaction() as tx:
            await store.grant(
                tx,
                opt_in_id=opt_in_id,
                tenant_id=caller.tenant_id,
                project_id=caller.project_id,
                recipient_hash=recipient_hash,
                sealed_phone=self.keys.seal(phone.encode(), aad=opt_in_id.bytes),
                now=self.clock(),
            )
            opt_in = await store.find_opt_in(tx, project_id=caller.project_id, recipient_hash=recipient_hash)
        return status_of(self._skipped(caller), opt_in=opt_in)

    async def revoke(self, destination: str, caller: Caller) -> OptInStatus:
        """Record that the recipient withdrew; raises `RefusedError(OPT_IN_NOT_FOUND)` if there was no consent."""
        phone = normalise(destination, default_country=caller.allowance.default_country)
        recipient_hash = self._hash(phone)
        async with self.database.transaction() as tx:
            if not await store.revoke(
                tx, project_id=caller.project_id, recipient_hash=recipient_hash, now=self.clock()
            ):
                raise RefusedError(Refusal.OPT_IN_NOT_FOUND, field="destinationNumber")
            opt_in = await store.find_opt_in(tx, project_id=caller.project_id, recipient_hash=recipient_hash)
        return status_of(self._skipped(caller), opt_in=opt_in)

    def _skipped(self, caller: Caller) -> OptInReason | None:
        return skip_reason(
            enabled=self.enabled,
            number=caller.number,
            environment=caller.environment,
            project_id=caller.project_id,
        )

    def _hash(self, phone: str) -> str:
        return self.pepper.hash(recipient_key(phone), purpose=RECIPIENT_PURPOSE)
