"""Two books that know nothing of each other, and every way in which they can disagree about a message."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from contracts.repair_questions import Account

HOUR: Final = timedelta(hours=1)
SETTLED_AFTER: Final = timedelta(minutes=2)
"""What changed more recently may still be on its way from one book to the other."""


class Wrong(StrEnum):
    """What the two books say of one message, where they cannot both be right."""

    UNKNOWN_TO_LEDGER = "UNKNOWN_TO_LEDGER"
    UNKNOWN_TO_API = "UNKNOWN_TO_API"
    OPEN_IN_LEDGER = "OPEN_IN_LEDGER"
    OPEN_IN_API = "OPEN_IN_API"


SENTENCES: Final = {
    Wrong.UNKNOWN_TO_LEDGER: "The api accepted it and the ledger never heard of it, so nobody watches over it.",
    Wrong.UNKNOWN_TO_API: "The ledger was told of it and the api does not have it any more.",
    Wrong.OPEN_IN_LEDGER: "It has ended for the api, and the ledger still waits for its end.",
    Wrong.OPEN_IN_API: "It has ended for the ledger, and the api still shows it as open.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """One message in the api's book. `changed_at` is when it last took a step."""

    message_id: UUID
    is_final: bool
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance:
    """One message the books disagree about."""

    message_id: UUID
    wrong: Wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """One tenant's hour in both books, and what is wrong between them; `is_whole` if all of that is named."""

    tenant_id: UUID
    hour: datetime
    api: Account | None
    ledger: Account | None
    wrongs: Sequence[Imbalance] = ()
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """All accounts of some hours. Without `is_complete` there were more of them than could be compared."""

    since: datetime
    until: datetime
    balances: Sequence[Balance] = field(default_factory=tuple)
    is_complete: bool = True

    @property
    def is_balanced(self) -> bool:
        """Whether nothing is wrong, as far as it was compared."""
        return not any(balance.wrongs for balance in self.balances)


def first_id_of(moment: datetime) -> UUID:
    """Not above any id made at or after a moment: ids begin with 48 bits of Unix milliseconds (UUIDv7)."""
    return UUID(int=round(moment.timestamp() * 1_000) << 80)


def made_at(message_id: UUID) -> datetime:
    """When an id was made."""
    return datetime.fromtimestamp((message_id.int >> 80) / 1_000, UTC)


def hour_of(moment: datetime) -> datetime:
    """The beginning of its hour."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def hours(since: datetime, until: datetime) -> Iterator[datetime]:
    """The hours that have begun before `until`, from that of `since` on."""
    hour = hour_of(since)
    while hour < until:
        yield hour
        hour += HOUR


def unequal(
    ours: Sequence[Account], ledgers: Sequence[Account]
) -> Sequence[tuple[UUID, datetime, Account | None, Account | None, bool]]:
    """Accounts of both books side by side, and whether they differ: in number, or by digest in what they hold."""
    mine = {(account.tenant_id, account.hour): account for account in ours}
    theirs = {(account.tenant_id, account.hour): account for account in ledgers}
    keys = sorted(mine.keys() | theirs.keys(), key=lambda key: (key[1], key[0]))
    return [(*key, mine.get(key), theirs.get(key), mine.get(key) != theirs.get(key)) for key in keys]


def disagreements(ours: Sequence[Booked], ledger: Mapping[UUID, bool], *, before: datetime) -> Sequence[Imbalance]:
    """Messages the books disagree about although nothing about them changed since `before`."""
    known = {booked.message_id: booked for booked in ours}
    found = [
        Imbalance(message_id=booked.message_id, wrong=wrong)
        for booked in ours
        if booked.changed_at < before and (wrong := _wrong(booked, ledger.get(booked.message_id))) is not None
    ]
    strangers = sorted(message_id for message_id in ledger.keys() - known.keys() if made_at(message_id) < before)
    return found + [Imbalance(message_id=stranger, wrong=Wrong.UNKNOWN_TO_API) for stranger in strangers]


def _wrong(booked: Booked, is_final_in_ledger: bool | None) -> Wrong | None:
    if is_final_in_ledger is None:
        return Wrong.UNKNOWN_TO_LEDGER
    if booked.is_final == is_final_in_ledger:
        return None
    return Wrong.OPEN_IN_LEDGER if booked.is_final else Wrong.OPEN_IN_API
