"""Writes down what the platform owes and what was heard of it since, many facts per commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chassis.database import Transaction
from reconciler.domain.ledger import LedgerFact, entry_of
from reconciler.store import ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A fact and when its speaker said it."""

    fact: LedgerFact
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepLedger:
    """`grace` is how long after its due time a message may be silent."""

    grace: timedelta

    async def write(self, tx: Transaction, told: Sequence[Told]) -> Sequence[None]:
        """The write of a group commit; repeats and disorder change nothing."""
        entries = [entry_of(item.fact, occurred_at=item.occurred_at, grace=self.grace) for item in told]
        await ledger.fold_entries(tx, sorted(entries, key=lambda entry: (entry.ref.message_id, entry.ref.round)))
        return [None] * len(told)
