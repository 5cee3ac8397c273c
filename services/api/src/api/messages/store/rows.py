"""Rows of messages as values, and the conditions that confine a query to what its caller may see."""

from typing import Any

from sqlalchemy import ColumnElement

from api.messages.domain.details import KnownMessage, StoredMessage
from api.messages.domain.scope import Scope
from api.messages.tables import MESSAGES
from contracts.errors import ErrorCode
from contracts.status import Status
from contracts.values import MessageRef


def within(scope: Scope) -> list[ColumnElement[bool]]:
    """The scope as conditions."""
    columns = MESSAGES.c
    conditions = [columns.tenant_id == scope.tenant_id]
    if scope.project_id is not None:
        conditions.append(columns.project_id == scope.project_id)
    if scope.number_id is not None:
        conditions.append(columns.number_id == scope.number_id)
    if scope.environment is not None:
        conditions.append(columns.environment == scope.environment.value)
    return conditions


def stored(row: Any) -> StoredMessage:
    """A whole row."""
    return StoredMessage(
        ref=ref_of(row),
        external_id=row["external_id"],
        status=Status(row["status"]),
        version=row["version"],
        origin=row["origin"],
        source_number=row["source_number"],
        template_name=row["template_name"],
        kind=row["kind"],
        labels=tuple(row["labels"] or ()),
        deliver_by=row["deliver_by"],
        deliver_until=row["deliver_until"],
        accepted_at=row["accepted_at"],
        dispatched_at=row["dispatched_at"],
        sent_at=row["sent_at"],
        delivered_at=row["delivered_at"],
        read_at=row["read_at"],
        failed_at=row["failed_at"],
        canceled_at=row["canceled_at"],
        error_code=ErrorCode(row["error_code"]) if row["error_code"] else None,
        duplicate_possible=row["duplicate_possible"],
        recipient_hash=row["recipient_hash"],
        sealed=row["sealed"],
    )


def known(row: Any) -> KnownMessage:
    """What canceling needs of a row."""
    return KnownMessage(ref=ref_of(row), status=Status(row["status"]), is_suspect=row["is_suspect"])


def ref_of(row: Any) -> MessageRef:
    """Whom facts about the row's message are about."""
    return MessageRef(
        message_id=row["id"],
        tenant_id=row["tenant_id"],
        project_id=row["project_id"],
        number_id=row["number_id"],
        instance=row["instance"],
        environment=row["environment"],
        category=row["category"],
        correlation_id=row["correlation_id"],
        round=row["round"],
    )
