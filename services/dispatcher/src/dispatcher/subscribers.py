"""Doors for what is heard: numbers, echoes, commands, and the lanes' own queues."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from chassis.answers import AnswerHandler
from chassis.broker import Broker
from chassis.deliveries import Decode, Heard
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing, SealBrokenError, UnknownKeyError
from contracts.answers import answer_body
from contracts.commands import RequeueMessage, VerifyMessage
from contracts.dispatch_questions import CancelMessages, DescribeLane, ExplainMessage
from contracts.facts import (
    EchoObserved,
    MessageAccepted,
    NumberConfigured,
    NumberConnectionChanged,
    NumberRemoved,
    ReceiptRecorded,
    RecipientErased,
)
from contracts.registry import UnreadableError, decode
from contracts.statement import Statement
from contracts.topology import (
    DISPATCHER_COMMANDS,
    DISPATCHER_ECHOES,
    DISPATCHER_NUMBERS,
    DISPATCHER_RECEIPTS,
    DISPATCHER_RECIPIENTS,
)
from dispatcher.usecases.cancel_messages import CancelJobs
from dispatcher.usecases.close_lane import CloseLane
from dispatcher.usecases.explain_message import DescribeNumber, ExplainJob
from dispatcher.usecases.forget_contacts import EraseContact
from dispatcher.usecases.take_in import LocateMessage, TakeIn
from dispatcher.usecases.verify_message import ProveMessage
from dispatcher.usecases.watch_lanes import ConfigureLane, ObserveConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribers:
    """One method per queue."""

    configure_lane: ConfigureLane
    close_lane: CloseLane
    observe_connection: ObserveConnection
    locate_message: LocateMessage
    prove_message: ProveMessage
    take_in: TakeIn
    erase_contact: EraseContact
    observing_echoes: GroupCommit[EchoObserved, None]
    hearing_receipts: GroupCommit[ReceiptRecorded, None]

    def register(self, broker: Broker) -> None:
        """The static queues."""
        broker.hear(DISPATCHER_NUMBERS, self.on_number)
        broker.hear(DISPATCHER_ECHOES, self.on_echo, prefetch=100)
        broker.hear(DISPATCHER_RECEIPTS, self.on_receipt, prefetch=200)
        broker.hear(DISPATCHER_RECIPIENTS, self.on_recipient)
        broker.hear(DISPATCHER_COMMANDS, self.on_command)

    async def on_number(self, heard: Heard) -> None:
        """A number was configured or removed, or its connection changed."""
        match heard.statement:
            case NumberConfigured() as fact:
                await self.configure_lane(fact)
            case NumberRemoved() as fact:
                await self.close_lane(fact)
            case NumberConnectionChanged() as fact:
                await self.observe_connection(fact)
            case _:
                raise UnreadableError("not about a number")

    async def on_echo(self, heard: Heard) -> None:
        """A number was seen sending."""
        if not isinstance(heard.statement, EchoObserved):
            raise UnreadableError("not an echo")
        await self.observing_echoes.submit(heard.statement)

    async def on_receipt(self, heard: Heard) -> None:
        """WhatsApp reported what became of a message."""
        if not isinstance(heard.statement, ReceiptRecorded):
            raise UnreadableError("not a receipt")
        await self.hearing_receipts.submit(heard.statement)

    async def on_recipient(self, heard: Heard) -> None:
        """A person is to be forgotten."""
        if not isinstance(heard.statement, RecipientErased):
            raise UnreadableError("not an erased recipient")
        await self.erase_contact(heard.statement)

    async def on_command(self, heard: Heard) -> None:
        """Somebody wants a message put to work, or proof of it."""
        match heard.statement:
            case RequeueMessage() as command:
                await self.locate_message(command)
            case VerifyMessage() as command:
                await self.prove_message(command)
            case _:
                raise UnreadableError("not a command for the dispatcher")

    async def on_lane(self, _queue_name: str, batch: Sequence[Heard]) -> None:
        """Messages for one number."""
        accepted = [heard.statement for heard in batch if isinstance(heard.statement, MessageAccepted)]
        if len(accepted) != len(batch):
            raise UnreadableError("not an accepted message")
        await self.take_in(accepted)


def decode_sealed(keys: KeyRing) -> Decode:
    """Reads what comes in a lane. Content under a key that is not here dies at once: nobody could send it.

    It waits among the dead letters until the key is there again.
    """

    def read(type_name: str, body: bytes) -> Statement:
        statement = decode(type_name, body)
        if isinstance(statement, MessageAccepted):
            with suppress(SealBrokenError):
                _must_be_known(keys, statement.sealed)
        return statement

    return read


def _must_be_known(keys: KeyRing, sealed: str) -> None:
    try:
        keys.check(sealed)
    except UnknownKeyError as error:
        raise UnreadableError(str(error)) from None


def answer_with(cancel: CancelJobs, explain: ExplainJob, describe: DescribeNumber) -> AnswerHandler:
    """Answers every question to the dispatcher."""

    async def answer(kind: str, body: bytes) -> bytes:
        match decode(kind, body):
            case CancelMessages() as asked:
                return answer_body(await cancel(asked))
            case ExplainMessage() as asked:
                return answer_body(await explain(asked))
            case DescribeLane() as asked:
                return answer_body(await describe(asked))
            case _:
                raise UnreadableError("not a question for the dispatcher")

    return answer
