"""What status-ingest hears from the broker."""

from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.group_commit import GroupCommit
from contracts.facts import MessageDispatched
from contracts.topology import STATUS_INGEST_MESSAGES

PREFETCH = 100


def subscribe(broker: Broker, keys: GroupCommit[MessageDispatched, None]) -> None:
    """A dispatched message tells the key under which receipts will come, or already came."""

    async def on_message(heard: Heard) -> None:
        if isinstance(heard.statement, MessageDispatched):
            await keys.submit(heard.statement)

    broker.hear(STATUS_INGEST_MESSAGES, on_message, prefetch=PREFETCH)
