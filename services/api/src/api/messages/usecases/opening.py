"""Opens sealed contents for an authorised reader."""

from collections.abc import Sequence

from pydantic import ValidationError

from api.messages.domain.details import StoredMessage
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from contracts.values import MessageContent

logger = get_logger(__name__)

Opened = tuple[StoredMessage, MessageContent | None]
"""A message and its content; None where nothing is kept."""


def opened(keys: KeyRing, messages: Sequence[StoredMessage]) -> list[Opened]:
    """One unreadable content does not hide the messages beside it."""
    return [(message, _content(keys, message)) for message in messages]


def _content(keys: KeyRing, message: StoredMessage) -> MessageContent | None:
    if message.sealed is None:
        return None
    try:
        return MessageContent.model_validate_json(keys.open(message.sealed, aad=message.message_id.bytes))
    except (SealError, ValidationError) as error:
        logger.error("content_unreadable", error=error, message_id=message.message_id)
        return None
