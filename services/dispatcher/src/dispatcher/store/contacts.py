"""Whom each number has written to and what it told them last, as hashes: written by the statement that settles."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chassis.database import Transaction
from dispatcher.store.sql import sql

REMEMBER = """
        INSERT INTO dispatcher.contacts (instance, recipient_hash, last_text_hash, last_sent_at)
        SELECT DISTINCT ON (instance, recipient_hash) instance, recipient_hash, text_hash, finished_at
          FROM {moved} WHERE state = 'DISPATCHED'
         ORDER BY instance, recipient_hash, finished_at DESC
            ON CONFLICT (instance, recipient_hash) DO UPDATE
           SET last_text_hash = excluded.last_text_hash, last_sent_at = excluded.last_sent_at
         WHERE contacts.last_sent_at <= excluded.last_sent_at"""
"""For a WITH clause, from the jobs that `moved`. Its locks come after those of jobs and before those of lanes."""

REMEMBERED = "job.instance, job.recipient_hash, job.text_hash, job.state, job.finished_at"
"""What it needs to know of them."""

_PURGE = sql("""
    WITH page AS MATERIALIZED (
        SELECT instance, recipient_hash, last_sent_at FROM dispatcher.contacts
         WHERE (instance, recipient_hash) > (CAST(:instance AS text), CAST(:recipient_hash AS text))
         ORDER BY instance, recipient_hash LIMIT :limit),
    old AS (
        SELECT contact.instance, contact.recipient_hash FROM page
          JOIN dispatcher.contacts AS contact USING (instance, recipient_hash)
         WHERE contact.last_sent_at < {now} - make_interval(secs => :age_seconds) FOR UPDATE OF contact SKIP LOCKED),
    gone AS (
        DELETE FROM dispatcher.contacts AS contact USING old
         WHERE contact.instance = old.instance AND contact.recipient_hash = old.recipient_hash
        RETURNING contact.instance, contact.recipient_hash)
    SELECT instance, recipient_hash, last_sent_at, gone.instance IS NOT NULL AS is_gone
      FROM page LEFT JOIN gone USING (instance, recipient_hash) ORDER BY instance, recipient_hash
""")
"""By primary key: an index by age would be written with every message."""

_ERASE = sql("""
    WITH RECURSIVE lane AS (
        (SELECT instance FROM dispatcher.contacts ORDER BY instance LIMIT 1)
        UNION ALL
        SELECT (SELECT next.instance FROM dispatcher.contacts AS next
                 WHERE next.instance > lane.instance ORDER BY next.instance LIMIT 1)
          FROM lane WHERE lane.instance IS NOT NULL)
    DELETE FROM dispatcher.contacts AS contact USING lane
     WHERE contact.instance = lane.instance AND contact.recipient_hash = :recipient_hash
       AND (CAST(:instances AS text[]) IS NULL OR contact.instance = ANY(:instances))
""")
"""One probe per number, also of numbers that are gone, instead of an index that only this would use."""

ContactKey = tuple[str, str]
"""Instance, recipient hash."""

FIRST: ContactKey = ("", "")
"""Before every contact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgedPage:
    """A stretch of contacts: how many there were and went, where it ended, and since when the oldest left is one."""

    seen: int
    deleted: int
    last: ContactKey
    oldest: datetime | None


async def purge(
    tx: Transaction, *, after: ContactKey, older_than: timedelta, limit: int, now: datetime | None
) -> PurgedPage:
    """Forget contacts to whom nothing was sent for so long, among the `limit` that follow `after`."""
    parameters = {
        "instance": after[0],
        "recipient_hash": after[1],
        "limit": limit,
        "age_seconds": older_than.total_seconds(),
        "now": now,
    }
    rows = (await tx.execute(_PURGE, parameters)).all()
    kept = [row.last_sent_at for row in rows if not row.is_gone]
    last = (rows[-1].instance, rows[-1].recipient_hash) if rows else FIRST
    return PurgedPage(seen=len(rows), deleted=len(rows) - len(kept), last=last, oldest=min(kept, default=None))


async def erase(tx: Transaction, recipient_hash: str, *, instances: Sequence[str] | None) -> int:
    """Forget that these numbers, or all where None, wrote to somebody; how many did."""
    given = list(instances) if instances is not None else None
    return (await tx.execute(_ERASE, {"recipient_hash": recipient_hash, "instances": given})).rowcount
