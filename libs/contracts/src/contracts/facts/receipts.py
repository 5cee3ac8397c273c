"""What the gateway was heard to say about messages that left."""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from contracts.facts.fact import Fact, MessageFact
from contracts.status import Status
from contracts.values import Digest, Instance


class ReceiptSource(StrEnum):
    """How the receipt reached us."""

    WEBHOOK = "webhook"
    POLL = "poll"


class ReceiptRecorded(MessageFact):
    """WhatsApp reported progress. Said by status-ingest, and by the dispatcher for what it found by asking (`poll`).

    `occurred_at` is when we heard it; gateway clocks are not believed.
    """

    TYPE: ClassVar[str] = "receipt.recorded.v1"

    key_id: str = Field(min_length=1, max_length=200)
    status: Literal[Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED]
    occurred_at: AwareDatetime
    source: ReceiptSource = ReceiptSource.WEBHOOK


class EchoObserved(Fact):
    """A number was seen sending a message: proof of dispatch for whoever matches the hashes. Said by status-ingest."""

    TYPE: ClassVar[str] = "echo.observed.v1"

    instance: Instance
    key_id: str = Field(min_length=1, max_length=200)
    recipient_hash: Digest | None = None
    text_hash: Digest | None = None
    observed_at: AwareDatetime
