"""Tells the api the ledger's side of the books, and what the reconciler watches."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from chassis.database import Database
from contracts.repair_questions import (
    ACCOUNTS_MAX,
    REPEATS_MAX,
    AccountListed,
    BooksCounted,
    CountBooks,
    DescribeLedger,
    LedgerDescribed,
    ListAccount,
)
from reconciler.domain.books import hours
from reconciler.store import books, dead_letters, reporting

HOURS_MAX = 168
LETTERS_COUNTED_MAX = 10_000
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TellBooks:
    """Reads only; an hour is one statement over a range of the primary key."""

    database: Database
    clock: Callable[[], datetime]

    async def count(self, asked: CountBooks) -> BooksCounted:
        """As many hours and accounts as one answer holds."""
        wanted = list(hours(asked.since, asked.until))
        accounts = []
        for hour in wanted[:HOURS_MAX]:
            async with self.database.transaction() as tx:
                accounts += await books.count_hour(tx, hour, limit=ACCOUNTS_MAX + 1)
            if len(accounts) > ACCOUNTS_MAX:
                break
        complete = len(wanted) <= HOURS_MAX and len(accounts) <= ACCOUNTS_MAX
        return BooksCounted(accounts=tuple(accounts[:ACCOUNTS_MAX]), complete=complete)

    async def account(self, asked: ListAccount) -> AccountListed:
        """One page of one account."""
        async with self.database.transaction() as tx:
            entries = await books.list_account(
                tx, tenant_id=asked.tenant_id, hour=asked.hour, after=asked.after, limit=asked.limit
            )
        return AccountListed(entries=tuple(entries))

    async def describe(self, _: DescribeLedger) -> LedgerDescribed:
        """The ledger from above."""
        now = self.clock()
        async with self.database.transaction() as tx:
            return LedgerDescribed(
                open=await reporting.open_by_evidence(tx),
                overdue=await reporting.count_overdue(tx, now=now),
                repeated=tuple(await reporting.list_repeated(tx, limit=REPEATS_MAX)),
                lost_last_day=await reporting.lost_by_evidence(tx, within=DAY, now=now),
                dead_letters_waiting=await dead_letters.count_waiting(tx, limit=LETTERS_COUNTED_MAX),
            )
