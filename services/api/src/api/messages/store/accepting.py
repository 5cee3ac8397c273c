"""Storing accepted messages."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from api.messages.domain.acceptance import NewMessage
from api.messages.tables import MESSAGES
from chassis.database import Transaction

INSERT_MESSAGE = insert(MESSAGES)


async def insert_messages(tx: Transaction, messages: Sequence[NewMessage]) -> None:
    """New messages, one row each, in one pipelined call."""
    await tx.execute(INSERT_MESSAGE, [_row(message) for message in messages])


def _row(message: NewMessage) -> dict[str, Any]:
    accepted, ref = message.accepted, message.ref
    return {
        "id": ref.message_id,
        "tenant_id": ref.tenant_id,
        "project_id": ref.project_id,
        "key_id": message.key_id,
        "number_id": ref.number_id,
        "instance": ref.instance,
        "environment": ref.environment.value,
        "category": ref.category.value,
        "correlation_id": ref.correlation_id,
        "origin": message.origin,
        "source_number": message.source_number,
        "template_name": message.template_name,
        "deliver_by": accepted.deliver_by,
        "deliver_until": accepted.deliver_until,
        "urgent": accepted.urgent,
        "sealed": accepted.sealed,
        "recipient_hash": accepted.recipient_hash,
        "text_hash": accepted.text_hash,
        "accepted_at": accepted.accepted_at,
    }
