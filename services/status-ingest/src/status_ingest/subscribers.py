"""What status-ingest hears from our broker, and from the gateway's own."""

import asyncio
from collections.abc import Sequence

from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.feed import Feed, Source
from chassis.group_commit import GroupCommit
from contracts.facts import MessageDispatched, MessageUncertain, RecipientErased
from contracts.registry import UnreadableError
from contracts.topology import STATUS_INGEST_MESSAGES, STATUS_INGEST_RECIPIENTS
from gateways.evolution.events import ROUTING_KEYS
from status_ingest.usecases.erase_recipient import EraseRecipient
from status_ingest.usecases.keep_event import BODY_BYTES_MAX, KeepEvent
from status_ingest.usecases.learn_keys import Named
from status_ingest.usecases.read_body import read_body

PREFETCH = 100
FEED_PREFETCH = 100


def subscribe(broker: Broker, keys: GroupCommit[Named, None]) -> None:
    """A message that was or may have been sent tells the key under which receipts will come, or already came."""

    async def on_message(heard: Heard) -> None:
        if isinstance(heard.statement, MessageDispatched | MessageUncertain):
            await keys.submit(heard.statement)

    broker.hear(STATUS_INGEST_MESSAGES, on_message, prefetch=PREFETCH)


def gateway_feed(url: str, keep: KeepEvent, *, queue: str, exchanges: Sequence[str]) -> Feed:
    """What the gateway publishes beside its webhooks is kept as a webhook is; what both told counts once.

    The gateway drops what it cannot publish, so nothing may depend on this. Whoever may publish there speaks for every
    number, like the holder of the shared token.
    """

    async def keep_all(bodies: Sequence[bytes]) -> None:
        readings = [read_body(body if len(body) <= BODY_BYTES_MAX else None) for body in bodies]
        kept = await asyncio.gather(*(keep.keep(reading) for reading in readings), return_exceptions=True)
        for failure in kept:
            if failure is not None:
                raise failure

    source = Source(queue=queue, exchanges=tuple(exchanges), keys=ROUTING_KEYS)
    return Feed(url, source, keep_all, name="status-ingest:gateway", prefetch=FEED_PREFETCH)


def hear_erasures(broker: Broker, erase: EraseRecipient) -> None:
    """A person is to be forgotten; one at a time, for it goes through whole tables."""

    async def on_recipient(heard: Heard) -> None:
        if not isinstance(heard.statement, RecipientErased):
            raise UnreadableError("not an erased recipient")
        await erase(heard.statement)

    broker.hear(STATUS_INGEST_RECIPIENTS, on_recipient, prefetch=1)
