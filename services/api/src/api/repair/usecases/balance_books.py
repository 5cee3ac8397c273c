"""Holds the api's book beside the ledger's, hour by hour, and names every message they disagree about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from api.refusals import Refusal, RefusedError
from api.repair import store
from api.repair.domain import HOUR, SETTLED_AFTER, Balance, Books, Imbalance, disagreements, hour_of, hours, unequal
from api.repair.usecases.asking import RepairQuestions, expected
from chassis.database import Database
from contracts.repair_questions import (
    ACCOUNTS_MAX,
    ENTRIES_MAX,
    Account,
    AccountListed,
    BooksCounted,
    CountBooks,
    DescribeLedger,
    LedgerDescribed,
    ListAccount,
)

HOURS_MAX = 168
"""Closed messages leave the ledger after a week, so older hours cannot be compared."""
MESSAGES_MAX = 20_000
"""Messages of one account that are compared one by one."""
ACCOUNTS_NAMED_MAX = 50
"""Accounts of one report whose messages are compared one by one; further ones are told as unequal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceBooks:
    """Counting is one statement an hour on either side; messages are compared only where the counts differ."""

    database: Database
    questions: RepairQuestions
    clock: Callable[[], datetime]

    async def report(
        self, since: datetime | None, until: datetime | None, *, tenant_id: UUID | None = None
    ) -> tuple[Books, LedgerDescribed]:
        """The last day unless told otherwise, of one tenant or of all.

        Raises `RefusedError`: INVALID_DATE_RANGE or OWNER_UNAVAILABLE.
        """
        until = until or self.clock()
        since = since or until - 24 * HOUR
        if since >= until:
            raise RefusedError(Refusal.INVALID_DATE_RANGE, "`since` must be before `until`.", field="since")
        if since < hour_of(self.clock()) - HOURS_MAX * HOUR or until - since > (HOURS_MAX + 1) * HOUR:
            sentence = f"The books are kept for {HOURS_MAX} hours."
            raise RefusedError(Refusal.INVALID_DATE_RANGE, sentence, field="since")
        books = await self.balance(since, until, tenant_id=tenant_id)
        return books, expected(await self.questions.ask(DescribeLedger()), LedgerDescribed)

    async def balance(self, since: datetime, until: datetime, *, tenant_id: UUID | None = None) -> Books:
        """The books of some hours, side by side."""
        begin = hour_of(since)
        answer = expected(await self.questions.ask(CountBooks(since=begin, until=until)), BooksCounted)
        ours: list[Account] = []
        for hour in hours(begin, until):
            async with self.database.transaction() as tx:
                ours += await store.count_hour(tx, hour, limit=ACCOUNTS_MAX + 1)
        balances: list[Balance] = []
        named = 0
        for whose, hour, mine, theirs, differs in unequal(ours[:ACCOUNTS_MAX], answer.accounts):
            if tenant_id not in (None, whose):
                continue
            wrongs: Sequence[Imbalance] = ()
            is_whole = not differs
            if differs and named < ACCOUNTS_NAMED_MAX:
                wrongs, is_whole = await self._compare(whose, hour)
                named += 1
            balances.append(
                Balance(tenant_id=whose, hour=hour, api=mine, ledger=theirs, wrongs=wrongs, is_whole=is_whole)
            )
        complete = answer.complete and len(ours) <= ACCOUNTS_MAX
        return Books(since=begin, until=until, balances=balances, is_complete=complete)

    async def _compare(self, tenant_id: UUID, hour: datetime) -> tuple[Sequence[Imbalance], bool]:
        """The ledger is read first: what changes between the two readings is younger than what counts as settled."""
        before = self.clock() - SETTLED_AFTER
        ledger: dict[UUID, bool] = {}
        after: UUID | None = None
        while len(ledger) < MESSAGES_MAX:
            asked = ListAccount(tenant_id=tenant_id, hour=hour, after=after, limit=ENTRIES_MAX)
            page = expected(await self.questions.ask(asked), AccountListed).entries
            ledger |= {entry.message_id: entry.is_final for entry in page}
            if len(page) < ENTRIES_MAX:
                break
            after = page[-1].message_id
        async with self.database.transaction() as tx:
            ours = await store.list_account(tx, tenant_id=tenant_id, hour=hour, limit=MESSAGES_MAX)
        is_whole = len(ledger) < MESSAGES_MAX and len(ours) < MESSAGES_MAX
        return disagreements(ours, ledger, before=before) if is_whole else (), is_whole
