"""Who says and who hears each statement, and how a body becomes one again."""

from dataclasses import dataclass

from pydantic import ValidationError

from contracts import commands, delivery_questions, dispatch_questions, facts, questions, repair_questions
from contracts.statement import Statement

API, DISPATCHER, STATUS_INGEST, NOTIFIER, RECONCILER = "api", "dispatcher", "status-ingest", "notifier", "reconciler"
SERVICES = (API, DISPATCHER, STATUS_INGEST, NOTIFIER, RECONCILER)


class UnreadableError(Exception):
    """A body that is no known statement; it carries the reason, never the content."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement with its speakers and listeners."""

    statement: type[Statement]
    said_by: tuple[str, ...]
    heard_by: tuple[str, ...]


ENTRIES = (
    Entry(facts.MessageAccepted, (API,), (DISPATCHER, RECONCILER)),
    Entry(facts.MessageDispatched, (DISPATCHER,), (API, STATUS_INGEST, RECONCILER)),
    Entry(facts.MessageDeferred, (DISPATCHER,), (API, RECONCILER)),
    Entry(facts.MessageUncertain, (DISPATCHER,), (API, STATUS_INGEST, RECONCILER)),
    Entry(facts.MessageDispatchFailed, (DISPATCHER,), (API, RECONCILER)),
    Entry(facts.MessageDispatchCanceled, (DISPATCHER,), (API, RECONCILER)),
    Entry(facts.MessageReturned, (DISPATCHER,), (RECONCILER,)),
    Entry(facts.MessageStatusChanged, (API,), (NOTIFIER, RECONCILER)),
    Entry(facts.MessageLost, (RECONCILER,), (API,)),
    Entry(facts.ReceiptRecorded, (STATUS_INGEST, DISPATCHER), (API, DISPATCHER)),
    Entry(facts.EchoObserved, (STATUS_INGEST,), (DISPATCHER,)),
    Entry(facts.NumberConfigured, (API,), (DISPATCHER, NOTIFIER)),
    Entry(facts.NumberCreated, (API,), (NOTIFIER,)),
    Entry(facts.NumberRemoved, (API,), (DISPATCHER, NOTIFIER)),
    Entry(facts.NumberRestored, (API,), (NOTIFIER,)),
    Entry(facts.NumberConnectionChanged, (DISPATCHER, STATUS_INGEST), (API, DISPATCHER, NOTIFIER)),
    Entry(facts.ContentForgotten, (API,), (NOTIFIER,)),
    Entry(facts.RecipientErased, (API,), (DISPATCHER, STATUS_INGEST, RECONCILER)),
    Entry(facts.WebhookDelivered, (NOTIFIER,), (API,)),
    Entry(facts.WebhookExhausted, (NOTIFIER,), (API,)),
    Entry(facts.EndpointDisabled, (NOTIFIER,), (API,)),
    Entry(commands.RequeueMessage, (RECONCILER,), (DISPATCHER,)),
    Entry(commands.VerifyMessage, (RECONCILER,), (DISPATCHER,)),
    Entry(dispatch_questions.CancelMessages, (API,), (DISPATCHER,)),
    Entry(dispatch_questions.MessagesCanceled, (DISPATCHER,), (API,)),
    Entry(dispatch_questions.ExplainMessage, (API,), (DISPATCHER,)),
    Entry(dispatch_questions.MessageExplained, (DISPATCHER,), (API,)),
    Entry(dispatch_questions.DescribeLane, (API,), (DISPATCHER,)),
    Entry(dispatch_questions.LaneDescribed, (DISPATCHER,), (API,)),
    Entry(questions.RegisterEndpoint, (API,), (NOTIFIER,)),
    Entry(questions.ListEndpoints, (API,), (NOTIFIER,)),
    Entry(questions.EndpointRegistered, (NOTIFIER,), (API,)),
    Entry(questions.Endpoints, (NOTIFIER,), (API,)),
    Entry(questions.FindEndpoint, (API,), (NOTIFIER,)),
    Entry(questions.ChangeEndpoint, (API,), (NOTIFIER,)),
    Entry(questions.DeleteEndpoint, (API,), (NOTIFIER,)),
    Entry(questions.RotateSecret, (API,), (NOTIFIER,)),
    Entry(questions.ListDeliveryLog, (API,), (NOTIFIER,)),
    Entry(questions.EndpointFound, (NOTIFIER,), (API,)),
    Entry(questions.SecretRotated, (NOTIFIER,), (API,)),
    Entry(questions.DeliveryLog, (NOTIFIER,), (API,)),
    Entry(questions.TryEndpoint, (API,), (NOTIFIER,)),
    Entry(questions.TrialPlanned, (NOTIFIER,), (API,)),
    Entry(delivery_questions.LocateEndpoint, (API,), (NOTIFIER,)),
    Entry(delivery_questions.ListDeliveries, (API,), (NOTIFIER,)),
    Entry(delivery_questions.Deliveries, (NOTIFIER,), (API,)),
    Entry(delivery_questions.ReplayDelivery, (API,), (NOTIFIER,)),
    Entry(delivery_questions.ReplayDeliveries, (API,), (NOTIFIER,)),
    Entry(delivery_questions.DeliveriesReplayed, (NOTIFIER,), (API,)),
    Entry(questions.Rejected, (NOTIFIER, RECONCILER), (API,)),
    Entry(repair_questions.ListDeadLetters, (API,), (RECONCILER,)),
    Entry(repair_questions.DeadLetters, (RECONCILER,), (API,)),
    Entry(repair_questions.FindDeadLetter, (API,), (RECONCILER,)),
    Entry(repair_questions.DeadLetterExplained, (RECONCILER,), (API,)),
    Entry(repair_questions.ReplayDeadLetters, (API,), (RECONCILER,)),
    Entry(repair_questions.DiscardDeadLetters, (API,), (RECONCILER,)),
    Entry(repair_questions.DeadLettersSettled, (RECONCILER,), (API,)),
    Entry(repair_questions.CountBooks, (API,), (RECONCILER,)),
    Entry(repair_questions.BooksCounted, (RECONCILER,), (API,)),
    Entry(repair_questions.ListAccount, (API,), (RECONCILER,)),
    Entry(repair_questions.AccountListed, (RECONCILER,), (API,)),
    Entry(repair_questions.DescribeLedger, (API,), (RECONCILER,)),
    Entry(repair_questions.LedgerDescribed, (RECONCILER,), (API,)),
)

BY_TYPE = {entry.statement.TYPE: entry for entry in ENTRIES}


def decode(type_name: str, body: bytes) -> Statement:
    """The statement in `body`; raises `UnreadableError` for an unknown type or a body that does not fit it."""
    entry = BY_TYPE.get(type_name)
    if entry is None:
        raise UnreadableError("unknown type")
    try:
        return entry.statement.model_validate_json(body)
    except ValidationError as error:
        places = sorted({".".join(str(part) for part in issue["loc"]) for issue in error.errors(include_input=False)})
        raise UnreadableError(f"invalid fields: {', '.join(places)[:200]}") from None
