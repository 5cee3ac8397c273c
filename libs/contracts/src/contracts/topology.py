"""Names of exchanges, queues and routing keys: the map of the broker."""

from dataclasses import dataclass

FACTS = "pilot.facts"
COMMANDS = "pilot.commands"
DEAD = "pilot.dead"

EXCHANGES = ((FACTS, "topic"), (COMMANDS, "direct"), (DEAD, "topic"))

DELIVERY_LIMIT = 20
"""Returns of one delivery before the broker buries it; a safety net, never a retry policy."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What a queue listens to."""

    exchange: str
    key: str


@dataclass(frozen=True, slots=True)
class Queue:
    """A durable quorum queue and its bindings."""

    name: str
    bindings: tuple[Binding, ...] = ()


def _facts(name: str, *keys: str) -> Queue:
    return Queue(name, tuple(Binding(FACTS, key) for key in keys))


DEAD_LETTERS = Queue("dead-letters", (Binding(DEAD, "#"),))

API_MESSAGES = _facts(
    "api.messages",
    "message.dispatched",
    "message.deferred",
    "message.uncertain",
    "message.dispatch_failed",
    "message.dispatch_canceled",
    "message.lost",
    "receipt.recorded",
)
API_NUMBERS = _facts("api.numbers", "number.connection_changed")
API_WEBHOOKS = _facts("api.webhooks", "webhook.delivered", "webhook.exhausted")
API_ENDPOINTS = _facts("api.endpoints", "endpoint.disabled")
DISPATCHER_NUMBERS = _facts("dispatcher.numbers", "number.configured", "number.removed", "number.connection_changed")
DISPATCHER_ECHOES = _facts("dispatcher.echoes", "echo.observed")
DISPATCHER_RECEIPTS = _facts("dispatcher.receipts", "receipt.recorded")
DISPATCHER_RECIPIENTS = _facts("dispatcher.recipients", "recipient.erased")
DISPATCHER_COMMANDS = Queue("dispatcher.commands", (Binding(COMMANDS, "dispatcher"),))
STATUS_INGEST_MESSAGES = _facts("status-ingest.messages", "message.dispatched", "message.uncertain")
STATUS_INGEST_RECIPIENTS = _facts("status-ingest.recipients", "recipient.erased")
NOTIFIER_MESSAGES = _facts("notifier.messages", "message.status_changed", "content.forgotten")
NOTIFIER_NUMBERS = _facts(
    "notifier.numbers",
    "number.configured",
    "number.created",
    "number.removed",
    "number.restored",
    "number.connection_changed",
)
RECONCILER_MESSAGES = _facts(
    "reconciler.messages",
    "message.accepted.*",
    "message.dispatched",
    "message.deferred",
    "message.uncertain",
    "message.dispatch_failed",
    "message.dispatch_canceled",
    "message.returned",
    "message.status_changed",
)
RECONCILER_RECIPIENTS = _facts("reconciler.recipients", "recipient.erased")

QUEUES = (
    API_MESSAGES,
    API_NUMBERS,
    API_WEBHOOKS,
    API_ENDPOINTS,
    DISPATCHER_NUMBERS,
    DISPATCHER_ECHOES,
    DISPATCHER_RECEIPTS,
    DISPATCHER_RECIPIENTS,
    DISPATCHER_COMMANDS,
    STATUS_INGEST_MESSAGES,
    STATUS_INGEST_RECIPIENTS,
    NOTIFIER_MESSAGES,
    NOTIFIER_NUMBERS,
    RECONCILER_MESSAGES,
    RECONCILER_RECIPIENTS,
)
"""Every static queue; all are declared by every service, so that no fact is published into nothing."""


def lane_queue(instance: str) -> Queue:
    """The queue of one WhatsApp number."""
    return Queue(f"messages--{instance}", (Binding(FACTS, f"message.accepted.{instance}"),))


def question_queue(service: str) -> str:
    """Where questions to one service are put."""
    return f"questions.{service}"
