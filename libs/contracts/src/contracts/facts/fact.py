"""What all facts share: they are published to the facts exchange."""

from typing import ClassVar

from contracts.statement import Statement
from contracts.topology import FACTS
from contracts.values import MessageRef


class Fact(Statement):
    """An immutable, past-tense statement by the service that owns it."""

    EXCHANGE: ClassVar[str] = FACTS


class MessageFact(Fact):
    """A fact about one message."""

    ref: MessageRef
