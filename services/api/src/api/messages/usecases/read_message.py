"""Reading a message back, and what has happened to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.access.domain import Caller
from api.messages.domain.details import Step, StoredMessage
from api.messages.store import reading
from api.refusals import Refusal, RefusedError
from chassis.database import Database, Transaction
from chassis.seal import KeyRing
from contracts.values import MessageContent

STEPS_MAX = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """Opens the seal for an authorised reader."""

    database: Database
    keys: KeyRing

    async def read(self, reference: str, caller: Caller) -> tuple[StoredMessage, MessageContent | None]:
        """The message and its content; raises `RefusedError(MESSAGE_NOT_FOUND)` outside the caller's project too."""
        async with self.database.transaction() as tx:
            message = await self._find(tx, reference, caller)
        if message.sealed is None:
            return message, None
        plaintext = self.keys.open(message.sealed, aad=message.message_id.bytes)
        return message, MessageContent.model_validate_json(plaintext)

    async def steps(self, reference: str, caller: Caller) -> tuple[StoredMessage, Sequence[Step]]:
        """The message and its first 500 steps."""
        async with self.database.transaction() as tx:
            message = await self._find(tx, reference, caller)
            return message, await reading.list_steps(tx, message.message_id, limit=STEPS_MAX)

    async def _find(self, tx: Transaction, reference: str, caller: Caller) -> StoredMessage:
        message = await reading.find_message(
            tx, project_id=caller.project_id, reference=reference, message_id=_as_uuid(reference)
        )
        if message is None:
            raise RefusedError(Refusal.MESSAGE_NOT_FOUND)
        return message


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
