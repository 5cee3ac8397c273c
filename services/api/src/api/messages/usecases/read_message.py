"""Reading one message back."""

from dataclasses import dataclass

from api.messages.domain.details import StoredMessage
from api.messages.domain.references import as_uuid, is_storable
from api.messages.domain.scope import Scope
from api.messages.store import reading
from api.messages.usecases.opening import Opened, opened
from api.refusals import Refusal, RefusedError
from chassis.database import Database, Transaction
from chassis.seal import KeyRing


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """Opens the seal for an authorised reader."""

    database: Database
    keys: KeyRing

    async def read(self, reference: str, scope: Scope) -> Opened:
        """By id, correlation id or provider id; raises `RefusedError(MESSAGE_NOT_FOUND)` outside the scope too."""
        async with self.database.transaction() as tx:
            message = await find(tx, reference, scope)
        return opened(self.keys, [message])[0]


async def find(tx: Transaction, reference: str, scope: Scope) -> StoredMessage:
    """The message, or `RefusedError(MESSAGE_NOT_FOUND)`."""
    message = None
    if is_storable(reference):
        message = await reading.find_message(tx, scope, reference=reference, message_id=as_uuid(reference))
    if message is None:
        raise RefusedError(Refusal.MESSAGE_NOT_FOUND)
    return message
