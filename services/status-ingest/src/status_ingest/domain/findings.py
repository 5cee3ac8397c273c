"""Turns what the gateway was heard to say into receipts to be correlated and facts to be told."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol, assert_never
from uuid import UUID

from contracts.facts import EchoObserved, ReceiptRecorded
from contracts.matching import RECIPIENT_PURPOSE, TEXT_PURPOSE, text_key
from contracts.status import Status
from contracts.values import ConnectionState, MessageRef
from gateways.port import Alias, ConnectionChange, Echo, Ignored, Observation, Receipt, ReceiptStatus, Unreadable
from gateways.recipients import recipient_key
from status_ingest.domain.connections import Sighting

_REPORTED: Final[dict[ReceiptStatus, Literal[Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED]]] = {
    ReceiptStatus.SENT: Status.SENT,
    ReceiptStatus.DELIVERED: Status.DELIVERED,
    ReceiptStatus.READ: Status.READ,
    ReceiptStatus.FAILED: Status.FAILED,
}

NO_INSTANCE: Final = ""
"""Stands for the instance that an event did not name; no number of ours is called so."""

LID_PURPOSE: Final = "lid"
SEAL_BROKEN: Final = "seal_broken"
NOT_INTERPRETED: Final = "not_interpreted"


class Hash(Protocol):
    """A peppered hash; equal values of one purpose give equal digests."""

    def __call__(self, value: str, *, purpose: str) -> str:
        """The hex digest."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MessageKey:
    """WhatsApp's name for a message; only unique within its instance, which may be `NO_INSTANCE`."""

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


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Lid:
    """WhatsApp's private name for a person, hashed; only compared within its instance."""

    instance: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What one event, or a batch of them, says. `unreadable` is the first reason for quarantine, if there is one.

    `homeless`: receipts of which nobody said whose they are. `behind_lids`: the recipient hash of a person, by LID.
    `nameless`: the LIDs of echoes that name no phone.
    """

    receipts: tuple[HeardReceipt, ...] = ()
    homeless: tuple[HeardReceipt, ...] = ()
    echoes: tuple[EchoObserved, ...] = ()
    connections: tuple[Sighting, ...] = ()
    behind_lids: Mapping[Lid, str] = field(default_factory=dict)
    nameless: Mapping[MessageKey, Lid] = field(default_factory=dict)
    ignored: int = 0
    unreadable: str | None = None


def findings_of(observations: Sequence[Observation], *, received_at: datetime, hash_of: Hash) -> Findings:
    """Our clock dates everything: the gateway's own times are local ones with a false zone."""
    receipts: list[HeardReceipt] = []
    echoes: list[EchoObserved] = []
    connections: list[Sighting] = []
    behind_lids: dict[Lid, str] = {}
    nameless: dict[MessageKey, Lid] = {}
    unreadable: list[str] = []
    ignored = 0
    for observation in observations:
        match observation:
            case Receipt(instance=instance, key_id=key_id, status=status):
                key = ReceiptKey(message=MessageKey(instance=instance or NO_INSTANCE, key_id=key_id), status=status)
                receipts.append(HeardReceipt(key=key, occurred_at=received_at))
            case Echo(instance=instance, recipient=recipient, lid=lid):
                echo = _echo_fact(observation, received_at, hash_of)
                echoes.append(echo)
                if recipient is None and lid is not None:
                    nameless[key_of(echo)] = Lid(instance=instance, digest=hash_of(lid, purpose=LID_PURPOSE))
            case Alias(instance=instance, lid=lid, phone=phone):
                known = Lid(instance=instance, digest=hash_of(lid, purpose=LID_PURPOSE))
                behind_lids[known] = hash_of(recipient_key(phone), purpose=RECIPIENT_PURPOSE)
            case ConnectionChange():
                connections.append(_sighting(observation, received_at))
            case Ignored():
                ignored += 1
            case Unreadable(reason=reason):
                unreadable.append(reason)
            case _:
                assert_never(observation)
    return Findings(
        receipts=tuple(receipt for receipt in receipts if receipt.key.message.instance != NO_INSTANCE),
        homeless=tuple(receipt for receipt in receipts if receipt.key.message.instance == NO_INSTANCE),
        echoes=tuple(echoes),
        connections=tuple(connections),
        behind_lids=behind_lids,
        nameless=nameless,
        ignored=ignored,
        unreadable=unreadable[0] if unreadable else None,
    )


def combine(parts: Sequence[Findings]) -> Findings:
    """Everything a batch says, repeats left out: of equal receipts and echoes the earliest stays."""
    receipts: dict[ReceiptKey, HeardReceipt] = {}
    echoes: dict[MessageKey, EchoObserved] = {}
    behind_lids: dict[Lid, str] = {}
    nameless: dict[MessageKey, Lid] = {}
    for part in parts:
        for receipt in (*part.receipts, *part.homeless):
            receipts.setdefault(receipt.key, receipt)
        for echo in part.echoes:
            echoes.setdefault(key_of(echo), echo)
        behind_lids.update(part.behind_lids)
        nameless.update(part.nameless)
    ordered = [receipts[key] for key in sorted(receipts)]
    return Findings(
        receipts=tuple(receipt for receipt in ordered if receipt.key.message.instance != NO_INSTANCE),
        homeless=tuple(receipt for receipt in ordered if receipt.key.message.instance == NO_INSTANCE),
        echoes=tuple(echoes[key] for key in sorted(echoes)),
        connections=tuple(sighting for part in parts for sighting in part.connections),
        behind_lids=behind_lids,
        nameless=nameless,
    )


def keys_of(findings: Findings) -> list[MessageKey]:
    """Every message spoken of by name, sorted, so that all who lock several lock them in one order."""
    return sorted({receipt.key.message for receipt in findings.receipts} | {key_of(echo) for echo in findings.echoes})


def key_of(echo: EchoObserved) -> MessageKey:
    """The message an echo proves."""
    return MessageKey(instance=echo.instance, key_id=echo.key_id)


def named(echo: EchoObserved, nameless: Mapping[MessageKey, Lid], known: Mapping[Lid, str]) -> EchoObserved:
    """An echo that names only a LID, with whoever is known to be behind it."""
    lid = nameless.get(key_of(echo))
    return echo if lid is None or lid not in known else echo.model_copy(update={"recipient_hash": known[lid]})


def at_home(receipt: HeardReceipt, homes: Collection[MessageKey]) -> HeardReceipt:
    """A homeless receipt as if its event had named the instance; raises `StopIteration` if it has no home."""
    home = next(home for home in homes if home.key_id == receipt.key.message.key_id)
    return HeardReceipt(key=ReceiptKey(message=home, status=receipt.key.status), occurred_at=receipt.occurred_at)


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


def _sighting(change: ConnectionChange, seen_at: datetime) -> Sighting:
    return Sighting(
        instance=change.instance,
        state=ConnectionState(change.state.value),
        reason=change.reason,
        seen_at=seen_at,
    )
