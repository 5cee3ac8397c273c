"""What operators do with a message of any tenant: find it, see what is overdue, cancel it."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.messages.domain.cancellation import CancelRefusal
from api.messages.domain.details import StoredMessage
from api.messages.domain.overdue import Overdue
from api.messages.domain.references import as_uuid, is_storable
from api.messages.domain.scope import Scope
from api.messages.store import reading, waiting
from api.messages.usecases.cancel_messages import CancelByReference
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from contracts.status import Status


def of_its_tenant(message: StoredMessage) -> Scope:
    """The scope that holds a message, to hand it on to what customers use."""
    return Scope(tenant_id=message.ref.tenant_id, project_id=None, number_id=None, environment=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindAnywhere:
    """Never opens a content."""

    database: Database

    async def find(self, reference: str) -> StoredMessage:
        """By id, correlation id or provider id; raises `RefusedError(MESSAGE_NOT_FOUND)`."""
        message = None
        if is_storable(reference):
            async with self.database.transaction() as tx:
                message = await reading.find_anywhere(tx, reference=reference, message_id=as_uuid(reference))
        if message is None:
            raise RefusedError(Refusal.MESSAGE_NOT_FOUND)
        return message

    async def cancelable(self, reference: str) -> StoredMessage:
        """As `find`; raises `RefusedError(MESSAGE_NOT_CANCELABLE)` for what has left or has ended."""
        message = await self.find(reference)
        if message.status is not Status.QUEUED:
            raise RefusedError(Refusal.MESSAGE_NOT_CANCELABLE)
        return message

    async def overdue(self, wanted: Overdue, *, limit: int) -> Sequence[StoredMessage]:
        """Longest known first."""
        async with self.database.transaction() as tx:
            return await waiting.list_overdue(tx, wanted, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOne:
    """The dispatcher decides, as for customers; it must not be asked while a transaction is open."""

    cancel: CancelByReference

    async def carry_out(self, message: StoredMessage) -> None:
        """Raises `RefusedError`: MESSAGE_NOT_CANCELABLE or OWNER_UNAVAILABLE."""
        outcome = await self.cancel.cancel([str(message.message_id)], of_its_tenant(message))
        if any(reason is not CancelRefusal.OWNER_UNAVAILABLE for _, reason in outcome.failed):
            raise RefusedError(Refusal.MESSAGE_NOT_CANCELABLE)
