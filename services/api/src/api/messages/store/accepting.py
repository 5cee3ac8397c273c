"""Storing accepted messages."""

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Text

from api.limits.domain import CounterName
from api.messages.domain.acceptance import NewMessage
from chassis.database import Transaction
from chassis.outbox import Closing

_COLUMNS = {
    "id": "uuid",
    "tenant_id": "uuid",
    "project_id": "uuid",
    "key_id": "uuid",
    "number_id": "uuid",
    "instance": "text",
    "environment": "text",
    "category": "text",
    "correlation_id": "text",
    "origin": "text",
    "source_number": "text",
    "template_name": "text",
    "kind": "text",
    "labels": "text[]",
    "usage_day": "date",
    "usage_month": "date",
    "deliver_by": "timestamptz",
    "deliver_until": "timestamptz",
    "urgent": "boolean",
    "sealed": "text",
    "recipient_hash": "text",
    "text_hash": "text",
    "accepted_at": "timestamptz",
}
INSERT = Closing(
    f"""
INSERT INTO api.messages ({", ".join(_COLUMNS)})
SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r({", ".join(map(" ".join, _COLUMNS.items()))})
""",  # noqa: S608 (names of this module)
    {"rows": Text()},
)


def insert_messages(tx: Transaction, messages: Sequence[NewMessage]) -> None:
    """New messages, one row each, at the end of `tx`; one parameter holds them all, which is cheaper than many."""
    rows = orjson.dumps([_row(message) for message in messages], default=str)  # ids the driver made are not plain UUIDs
    tx.close_with(INSERT, {"rows": rows.decode()})


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
        "kind": message.kind,
        "labels": list(message.labels) or None,
        **_counted(message),
        "deliver_by": accepted.deliver_by,
        "deliver_until": accepted.deliver_until,
        "urgent": accepted.urgent,
        "sealed": accepted.sealed if message.keeps_content else None,
        "recipient_hash": accepted.recipient_hash,
        "text_hash": accepted.text_hash,
        "accepted_at": accepted.accepted_at,
    }


def _counted(message: NewMessage) -> dict[str, Any]:
    months = [charge.key.period for charge in message.charges if charge.key.name is CounterName.LIVE_MONTHLY]
    days = [charge.key.period for charge in message.charges if charge.key.name is not CounterName.LIVE_MONTHLY]
    return {"usage_day": days[0] if days else None, "usage_month": months[0] if months else None}
