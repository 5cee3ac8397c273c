"""What the api hears about its messages."""

from api.messages.domain.progress import report_of
from api.messages.usecases.follow_progress import FollowProgress
from chassis.broker import Broker
from chassis.deliveries import Heard
from contracts.topology import API_MESSAGES, API_WEBHOOKS

PREFETCH = 200
"""Handlers in flight share commits, so this bounds the size of a batch."""


def subscribe(broker: Broker, follow: FollowProgress) -> None:
    """Register the handlers."""

    async def hear(heard: Heard) -> None:
        report = report_of(heard.statement, statement_id=heard.statement_id, said_at=heard.occurred_at)
        if report is not None:
            await follow.follow(report)

    broker.hear(API_MESSAGES, hear, prefetch=PREFETCH)
    broker.hear(API_WEBHOOKS, hear, prefetch=PREFETCH)
