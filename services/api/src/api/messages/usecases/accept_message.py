"""Accepting a message: every check, then the row and its fact in one commit shared with other callers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from api.access.domain import Caller
from api.messages.domain.acceptance import Admitted, NewMessage, SendRequest, admit, check_caller
from api.messages.store import accepting
from api.templates.usecases import FindTemplate
from chassis.clock import Clock
from chassis.database import Transaction
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing, Pepper
from contracts.facts import MessageAccepted
from contracts.ids import uuid7
from contracts.matching import RECIPIENT_PURPOSE, TEXT_PURPOSE, text_key, text_of
from contracts.values import MessageRef
from gateways.recipients import recipient_key


async def store_accepted(tx: Transaction, messages: Sequence[NewMessage]) -> Sequence[None]:
    """One commit for many callers: rows and facts."""
    await accepting.insert_messages(tx, messages)
    tx.emit(*(message.accepted for message in messages))
    return [None] * len(messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptMessage:
    """After this returns, the platform owes the message a final status."""

    templates: FindTemplate
    commits: GroupCommit[NewMessage, None]
    keys: KeyRing
    pepper: Pepper = field(repr=False)
    clock: Clock

    async def accept(self, request: SendRequest, caller: Caller) -> NewMessage:
        """The stored message; raises `RefusedError` for the first check that fails."""
        check_caller(caller)
        template = await self.templates.find(caller.project_id, request.template) if request.template else None
        now = self.clock()
        admitted = admit(request, caller=caller, template=template, now=now)
        message = self._seal(admitted, caller=caller, urgent=request.urgent, now=now)
        await self.commits.submit(message)
        return message

    def _seal(self, admitted: Admitted, *, caller: Caller, urgent: bool, now: datetime) -> NewMessage:
        ref = _ref(admitted, caller)
        content = admitted.content
        accepted = MessageAccepted(
            ref=ref,
            deliver_by=admitted.deliver_by,
            deliver_until=admitted.deliver_until,
            urgent=urgent,
            sealed=self.keys.seal(content.model_dump_json().encode(), aad=ref.message_id.bytes),
            recipient_hash=self.pepper.hash(recipient_key(content.to), purpose=RECIPIENT_PURPOSE),
            text_hash=self.pepper.hash(text_key(text_of(content)), purpose=TEXT_PURPOSE),
            accepted_at=now,
        )
        return NewMessage(
            key_id=caller.key_id,
            origin=admitted.number.origin,
            source_number=admitted.number.phone,
            template_name=admitted.template_name,
            accepted=accepted,
        )


def _ref(admitted: Admitted, caller: Caller) -> MessageRef:
    message_id: UUID = uuid7()
    return MessageRef(
        message_id=message_id,
        tenant_id=caller.tenant_id,
        project_id=caller.project_id,
        number_id=admitted.number.number_id,
        instance=admitted.number.instance,
        environment=caller.environment,
        category=admitted.category,
        correlation_id=str(uuid7()),
    )
