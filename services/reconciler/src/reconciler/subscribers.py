"""What the reconciler hears from the broker."""

from collections.abc import Callable
from datetime import datetime
from typing import get_args

from chassis.broker import Broker
from chassis.deliveries import Delivery, Heard
from chassis.group_commit import GroupCommit
from contracts.topology import DEAD_LETTERS, RECONCILER_MESSAGES
from reconciler.domain.dead_letters import DeadLetter, dead_letter_of
from reconciler.domain.ledger import LedgerFact
from reconciler.usecases.keep_ledger import Told

PREFETCH = 100
LEDGER_FACTS = get_args(LedgerFact)


def hear_messages(broker: Broker, entries: GroupCommit[Told, None]) -> None:
    """Everything that is said about messages goes into the ledger."""

    async def on_message(heard: Heard) -> None:
        if isinstance(heard.statement, LEDGER_FACTS):
            await entries.submit(Told(fact=heard.statement, occurred_at=heard.occurred_at))

    broker.hear(RECONCILER_MESSAGES, on_message, prefetch=PREFETCH)


def hear_dead_letters(broker: Broker, letters: GroupCommit[DeadLetter, None], *, clock: Callable[[], datetime]) -> None:
    """Dead letters are taken as they are: many died because nobody could read them."""

    async def on_letter(delivery: Delivery) -> None:
        letter = dead_letter_of(
            body=delivery.body,
            message_id=delivery.message_id,
            type_name=delivery.type,
            routing_key=delivery.routing_key,
            headers=delivery.headers,
            now=clock(),
        )
        await letters.submit(letter)

    broker.hear_raw(DEAD_LETTERS, on_letter, prefetch=PREFETCH)
