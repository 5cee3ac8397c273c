"""Bodies of the routes about deliveries to webhooks."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query
from pydantic import AwareDatetime, Field

from api.operators.schemas import Cursor
from api.schemas import Body, PlainLine, instant
from api.webhooks.domain import DeliveryFilter, DeliveryStatus, ReplayRange
from contracts.delivery_questions import LISTED_MAX, Deliveries, DeliveriesReplayed, ListedDelivery

Event = Annotated[PlainLine, Field(max_length=100)]


class ReplayBody(Body):
    """Which deliveries: first owed from `from` on and before `to`; all events and statuses where none are named."""

    since: AwareDatetime = Field(validation_alias="from")
    until: AwareDatetime = Field(validation_alias="to")
    events: Annotated[list[Event], Field(max_length=50)] = Field(default_factory=list)
    status: DeliveryStatus | None = None
    cursor: UUID | None = None

    def wanted(self) -> ReplayRange:
        """The range asked for."""
        return ReplayRange(
            since=self.since, until=self.until, events=self.events, status=self.status, after=self.cursor
        )

    def asked(self) -> dict[str, Any]:
        """As the log of changes shows it."""
        return self.model_dump(mode="json", exclude_none=True)


def _wanted(
    event: Annotated[PlainLine | None, Query(max_length=100)] = None,
    status: Annotated[DeliveryStatus | None, Query()] = None,
    message_id: Annotated[UUID | None, Query(alias="messageId")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=LISTED_MAX)] = 50,
) -> DeliveryFilter:
    return DeliveryFilter(event=event, status=status, message_id=message_id, before=cursor, limit=limit)


WantedDeliveries = Annotated[DeliveryFilter, Depends(_wanted)]


def deliveries_body(found: Deliveries, *, limit: int) -> dict[str, Any]:
    """One page, and where the next one begins, unless this is the last."""
    items = [_delivery_body(delivery) for delivery in found.deliveries]
    return {"items": items, "nextCursor": items[-1]["id"] if len(items) == limit else None}


def replayed_body(replayed: DeliveriesReplayed) -> dict[str, Any]:
    """What goes out again, in that order; `skipped` are no longer kept, or were replayed too often."""
    return {
        "webhookId": str(replayed.endpoint_id),
        "count": len(replayed.delivery_ids),
        "deliveryIds": [str(delivery_id) for delivery_id in replayed.delivery_ids],
        "skipped": [str(delivery_id) for delivery_id in replayed.skipped],
        "nextCursor": str(replayed.next_after) if replayed.next_after else None,
    }


def _delivery_body(delivery: ListedDelivery) -> dict[str, Any]:
    return {
        "id": str(delivery.delivery_id),
        "event": delivery.event,
        "messageId": str(delivery.message_id) if delivery.message_id else None,
        "status": DeliveryStatus.of(delivery.state).value,
        "attempts": delivery.attempts,
        "createdAt": instant(delivery.owed_at),
        "dueAt": instant(delivery.due_at),
        "finishedAt": instant(delivery.finished_at),
        "statusCode": delivery.last_status,
        "problem": delivery.last_problem,
        "hint": delivery.hint,
        "replayable": delivery.replayable,
    }
