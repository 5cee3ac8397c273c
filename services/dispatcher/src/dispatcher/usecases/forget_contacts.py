"""Forgets whom numbers wrote to: after a long silence, or when a person must be forgotten."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from chassis.clock import utc_now
from chassis.database import Database
from chassis.retention import deleted_total, oldest_seconds
from contracts.facts import RecipientErased
from dispatcher.store import contacts
from dispatcher.store.contacts import FIRST, ContactKey
from dispatcher.usecases.clock import Clock, given

PAGE = 2_000
KIND = "contact"


@dataclass(slots=True, kw_only=True)
class PurgeContacts:
    """Goes through all contacts by their key, a page at a time; a new process begins anew, which is harmless."""

    database: Database
    retention: timedelta
    page: int = PAGE
    clock: Clock = None
    _after: ContactKey = FIRST
    _oldest: list[datetime] = field(default_factory=list)

    async def __call__(self) -> bool:
        """One page; False at the end of the walk."""
        now = given(self.clock)
        async with self.database.transaction() as tx:
            seen = await contacts.purge(tx, after=self._after, older_than=self.retention, limit=self.page, now=now)
        deleted_total.labels(kind=KIND).inc(seen.deleted)
        self._oldest = [min([*self._oldest, seen.oldest])] if seen.oldest else self._oldest
        if seen.seen == self.page:
            self._after = seen.last
            return True
        age = (now or utc_now()) - self._oldest[0] if self._oldest else timedelta(0)
        oldest_seconds.labels(kind=KIND).set(age.total_seconds())
        self._after, self._oldest = FIRST, []
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseContact:
    """A person is to be forgotten; repeating it is harmless.

    Jobs hold no content once they ended, and hashes for as long as they are kept.
    """

    database: Database

    async def __call__(self, fact: RecipientErased) -> None:
        """Their next message counts as a first contact."""
        async with self.database.transaction() as tx:
            erased = await contacts.erase(tx, fact.recipient_hash, instances=fact.instances)
        deleted_total.labels(kind="erased_contact").inc(erased)
