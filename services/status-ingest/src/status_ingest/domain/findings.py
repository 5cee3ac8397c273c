"""Turns what the gateway was heard to say into receipts to be correlated and facts to be told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol, assert_never
from uuid import UUID

from contracts.facts import EchoObserved, NumberConnectionChanged, ReceiptRecorded
from contracts.matching import RECIPIENT_PURPOSE, TEXT_PURPOSE, text_key
from contracts.status import Status
from contracts.values import ConnectionState, MessageRef
from gateways.port import ConnectionChange, Echo, Ignored, Observation, Receipt, ReceiptStatus, Unreadable
from gateways.recipients import recipient_key

_REPORTED: Final[dict[ReceiptStatus, Literal[Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED]]] = {
    ReceiptStatus.SENT: Status.SENT,
    ReceiptStatus.DELIVERED: Status.DELIVERED,
    ReceiptStatus.READ: Status.READ,
    ReceiptStatus.FAILED: Status.FAILED,
}

SEAL_BROKEN: Final = "seal_broken"
NOT_INTERPRETED: Final = "not_interpreted"


class Hash(Protocol):
    """A peppered hash; equal values of one purpose give equal digests."""

    def __call__(self, value: str, *, purpose: str) -> str:
        """The hex digest."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MessageKey:
    """WhatsApp's name for a message; only unique within its instance."""

    instance: str
    key_id: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ReceiptKey:
    """One report about one message; however often it is repeated it counts once."""

    message: MessageKey
    status: ReceiptStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardReceipt:
    """A report and when it reached us."""

    key: ReceiptKey
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """A stored event waiting to be interpreted."""

    id: UUID
    received_at: datetime
    instance: str | None
    sealed: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What one event, or a batch of them, says. `unreadable` is the first reason for quarantine, if there is one."""

    receipts: tuple[HeardReceipt, ...] = ()
    echoes: tuple[EchoObserved, ...] = ()
    connections: tuple[NumberConnectionChanged, ...] = ()
    ignored: int = 0
    unreadable: str | None = None


def findings_of(observations: Sequence[Observation], *, received_at: datetime, hash_of: Hash) -> Findings:
    """Our clock dates everything: the gateway's own times are local ones with a false zone."""
    receipts: list[HeardReceipt] = []
    echoes: list[EchoObserved] = []
    connections: list[NumberConnectionChanged] = []
    unreadable: list[str] = []
    ignored = 0
    for observation in observations:
        match observation:
            case Receipt(instance=instance, key_id=key_id, status=status):
                key = ReceiptKey(message=MessageKey(instance=instance, key_id=key_id), status=status)
                receipts.append(HeardReceipt(key=key, occurred_at=received_at))
            case Echo():
                echoes.append(_echo_fact(observation, received_at, hash_of))
            case ConnectionChange():
                connections.append(_connection_fact(observation, received_at))
            case Ignored():
                ignored += 1
            case Unreadable(reason=reason):
                unreadable.append(reason)
            case _:
                assert_never(observation)
    return Findings(
        receipts=tuple(receipts),
        echoes=tuple(echoes),
        connections=tuple(connections),
        ignored=ignored,
        unreadable=unreadable[0] if unreadable else None,
    )


def combine(parts: Sequence[Findings]) -> Findings:
    """Everything a batch says, repeats left out: of equal receipts and echoes the earliest stays."""
    receipts: dict[ReceiptKey, HeardReceipt] = {}
    echoes: dict[MessageKey, EchoObserved] = {}
    for part in parts:
        for receipt in part.receipts:
            receipts.setdefault(receipt.key, receipt)
        for echo in part.echoes:
            echoes.setdefault(key_of(echo), echo)
    return Findings(
        receipts=tuple(receipts[key] for key in sorted(receipts)),
        echoes=tuple(echoes[key] for key in sorted(echoes)),
        connections=tuple(change for part in parts for change in part.connections),
    )


def keys_of(findings: Findings) -> list[MessageKey]:
    """Every message spoken of, sorted, so that all who lock several lock them in one order."""
    return sorted({receipt.key.message for receipt in findings.receipts} | {key_of(echo) for echo in findings.echoes})


def key_of(echo: EchoObserved) -> MessageKey:
    """The message an echo proves."""
    return MessageKey(instance=echo.instance, key_id=echo.key_id)


def receipt_fact(ref: MessageRef, receipt: HeardReceipt) -> ReceiptRecorded:
    """What the platform is told about a message of ours."""
    return ReceiptRecorded(
        ref=ref,
        key_id=receipt.key.message.key_id,
        status=_REPORTED[receipt.key.status],
        occurred_at=receipt.occurred_at,
    )


def _echo_fact(echo: Echo, observed_at: datetime, hash_of: Hash) -> EchoObserved:
    recipient, text = echo.recipient, echo.text
    return EchoObserved(
        instance=echo.instance,
        key_id=echo.key_id,
        recipient_hash=hash_of(recipient_key(recipient), purpose=RECIPIENT_PURPOSE) if recipient else None,
        text_hash=hash_of(text_key(text), purpose=TEXT_PURPOSE) if text else None,
        observed_at=observed_at,
    )


def _connection_fact(change: ConnectionChange, observed_at: datetime) -> NumberConnectionChanged:
    return NumberConnectionChanged(
        instance=change.instance,
        state=ConnectionState(change.state.value),
        reason=change.reason,
        observed_at=observed_at,
    )
