"""Every fact, grouped by what it is about."""

from contracts.facts.messages import (
    MessageAccepted,
    MessageDeferred,
    MessageDispatchCanceled,
    MessageDispatched,
    MessageDispatchFailed,
    MessageLost,
    MessageReturned,
    MessageStatusChanged,
    MessageUncertain,
)
from contracts.facts.numbers import (
    NumberConfigured,
    NumberConnectionChanged,
    NumberCreated,
    NumberRemoved,
    NumberRestored,
)
from contracts.facts.privacy import ContentForgotten, RecipientErased
from contracts.facts.receipts import EchoObserved, ReceiptRecorded
from contracts.facts.webhooks import EndpointDisabled, WebhookDelivered, WebhookExhausted

__all__ = [
    "ContentForgotten",
    "EchoObserved",
    "EndpointDisabled",
    "MessageAccepted",
    "MessageDeferred",
    "MessageDispatchCanceled",
    "MessageDispatchFailed",
    "MessageDispatched",
    "MessageLost",
    "MessageReturned",
    "MessageStatusChanged",
    "MessageUncertain",
    "NumberConfigured",
    "NumberConnectionChanged",
    "NumberCreated",
    "NumberRemoved",
    "NumberRestored",
    "ReceiptRecorded",
    "RecipientErased",
    "WebhookDelivered",
    "WebhookExhausted",
]
