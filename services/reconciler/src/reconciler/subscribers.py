"""What the reconciler hears from the broker: facts about messages, dead letters, and the operators' questions."""

from collections.abc import Callable
from datetime import datetime
from typing import get_args

from chassis.answers import AnswerHandler
from chassis.broker import Broker
from chassis.deliveries import Delivery, Heard
from chassis.group_commit import GroupCommit
from contracts.answers import answer_body
from contracts.facts import RecipientErased
from contracts.registry import UnreadableError, decode
from contracts.repair_questions import (
    CountBooks,
    DescribeLedger,
    DiscardDeadLetters,
    FindDeadLetter,
    ListAccount,
    ListDeadLetters,
    ReplayDeadLetters,
)
from contracts.statement import Statement
from contracts.topology import DEAD_LETTERS, RECONCILER_MESSAGES, RECONCILER_RECIPIENTS
from reconciler.domain.dead_letters import DeadLetter, dead_letter_of
from reconciler.domain.ledger import LedgerFact
from reconciler.usecases.erase_recipient import EraseRecipient
from reconciler.usecases.keep_ledger import Told
from reconciler.usecases.read_letters import ReadLetters
from reconciler.usecases.settle_letters import SettleLetters
from reconciler.usecases.tell_books import TellBooks

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
            sent_at=delivery.sent_at,
            now=clock(),
        )
        await letters.submit(letter)

    broker.hear_raw(DEAD_LETTERS, on_letter, prefetch=PREFETCH)


def answer_with(read: ReadLetters, settle: SettleLetters, books: TellBooks) -> AnswerHandler:
    """Answers every question to the reconciler."""

    async def answer(kind: str, body: bytes) -> bytes:
        return answer_body(await _answer(decode(kind, body)))

    async def _answer(asked: Statement) -> Statement:
        match asked:
            case ListDeadLetters():
                return await read.page(asked)
            case FindDeadLetter():
                return await read.one(asked)
            case ReplayDeadLetters():
                return await settle.replay(asked)
            case DiscardDeadLetters():
                return await settle.discard(asked)
            case CountBooks():
                return await books.count(asked)
            case ListAccount():
                return await books.account(asked)
            case DescribeLedger():
                return await books.describe(asked)
            case _:
                raise UnreadableError("not a question for the reconciler")

    return answer


def hear_erasures(broker: Broker, erase: EraseRecipient) -> None:
    """A person is to be forgotten; one at a time, for it goes through whole tables."""

    async def on_recipient(heard: Heard) -> None:
        if not isinstance(heard.statement, RecipientErased):
            raise UnreadableError("not an erased recipient")
        await erase(heard.statement)

    broker.hear(RECONCILER_RECIPIENTS, on_recipient, prefetch=1)
