"""Turns what the broker delivers into the values that handlers hear."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from aio_pika.abc import AbstractIncomingMessage

from contracts.registry import UnreadableError
from contracts.statement import Statement

Decode = Callable[[str, bytes], Statement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One statement as it arrived. `statement_id` is the key by which repeats are recognised."""

    statement: Statement
    statement_id: UUID
    type: str
    occurred_at: datetime
    traceparent: str | None
    redelivered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message as it is, for a listener that must be able to take what nobody can read."""

    body: bytes
    message_id: str | None
    type: str | None
    sent_at: datetime | None
    routing_key: str
    headers: Mapping[str, Any]
    redelivered: bool


def heard_from(message: AbstractIncomingMessage, decode: Decode) -> Heard:
    """Read the envelope and the body; raises `UnreadableError`, which never carries content."""
    kind, sent_at = message.type, message.timestamp
    if kind is None or sent_at is None:
        raise UnreadableError("the envelope lacks a type or a time")
    return Heard(
        statement=decode(kind, message.body),
        statement_id=_statement_id(message.message_id),
        type=kind,
        occurred_at=_precise_time(message.headers.get("cloudEvents:time"), sent_at),
        traceparent=traceparent_of(message),
        redelivered=bool(message.redelivered),
    )


def delivery_from(message: AbstractIncomingMessage) -> Delivery:
    """The message without judging it."""
    return Delivery(
        body=message.body,
        message_id=message.message_id,
        type=message.type,
        sent_at=message.timestamp,
        routing_key=message.routing_key or "",
        headers=message.headers,
        redelivered=bool(message.redelivered),
    )


def traceparent_of(message: AbstractIncomingMessage) -> str | None:
    """The W3C trace context the speaker sent along, if any."""
    value = message.headers.get("traceparent")
    return value if isinstance(value, str) else None


def delivery_count(message: AbstractIncomingMessage) -> int:
    """How often this message came back to its queue already."""
    value = message.headers.get("x-delivery-count", 0)
    return value if isinstance(value, int) else 0


def _statement_id(text: str | None) -> UUID:
    try:
        return UUID(text or "")
    except ValueError:
        raise UnreadableError("the envelope lacks a usable id") from None


def _precise_time(text: object, sent_at: datetime) -> datetime:
    """The AMQP timestamp has whole seconds; the CloudEvents header, where sent, has the rest."""
    if not isinstance(text, str):
        return sent_at
    try:
        precise = datetime.fromisoformat(text)
    except ValueError:
        return sent_at
    return precise if precise.tzinfo else sent_at
