"""What one service asks another to do; durable, and harmless when repeated."""

from typing import ClassVar

from pydantic import Field

from contracts.facts.messages import MessageAccepted
from contracts.statement import Statement
from contracts.topology import COMMANDS
from contracts.values import MessageRef


class RequeueMessage(Statement):
    """Put a due message to work unless it already is; the dispatcher answers with a fact that tells where the job is.

    Carries the accepted fact itself, so that it works even where the job was lost. `possibly_sent`: an attempt was
    reported uncertain, so a lost job must come back as uncertain and never as ready.
    Said by reconciler, heard by dispatcher.
    """

    TYPE: ClassVar[str] = "message.requeue.v1"
    EXCHANGE: ClassVar[str] = COMMANDS

    ref: MessageRef
    accepted: MessageAccepted
    possibly_sent: bool = False

    def routing_key(self) -> str:
        """The one service that may do it."""
        return "dispatcher"


class VerifyMessage(Statement):
    """Say again where a message is, and ask the gateway what it knows of it; nothing is ever sent for that.

    `key_id` is what the ledger remembers, for a job that was lost. Answered with the fact about the job, and with
    `receipt.recorded` if the gateway's store proves more. Said by reconciler, heard by dispatcher.
    """

    TYPE: ClassVar[str] = "message.verify.v1"
    EXCHANGE: ClassVar[str] = COMMANDS

    ref: MessageRef
    key_id: str | None = Field(default=None, min_length=1, max_length=200)

    def routing_key(self) -> str:
        """The one service that may do it."""
        return "dispatcher"
