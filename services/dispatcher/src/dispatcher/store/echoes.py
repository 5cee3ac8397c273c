"""What numbers were seen sending: kept for a day as evidence, each belonging to at most one job."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from chassis.database import Transaction
from contracts.facts import EchoObserved
from dispatcher.domain.evidence import Trace
from dispatcher.domain.jobs import Attempt
from dispatcher.store.sql import rows_json, sql

_INSERT = sql("""
    INSERT INTO dispatcher.echoes (instance, key_id, recipient_hash, text_hash, observed_at)
    SELECT instance, key_id, recipient_hash, text_hash, observed_at
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(
           instance text, key_id text, recipient_hash text, text_hash text, observed_at timestamptz)
     ORDER BY instance, key_id
        ON CONFLICT (instance, key_id) DO NOTHING
""")

_UNBOUND = sql("""
    SELECT instance, recipient_hash, text_hash, key_id, observed_at FROM dispatcher.echoes AS echo
     WHERE (instance, recipient_hash, text_hash) IN (
           SELECT instance, recipient_hash, text_hash FROM jsonb_to_recordset(CAST(:rows AS jsonb))
               AS given(instance text, recipient_hash text, text_hash text))
       AND NOT EXISTS (SELECT FROM dispatcher.jobs AS owner
                        WHERE owner.instance = echo.instance AND owner.key_id = echo.key_id
                          AND owner.key_id IS NOT NULL)
     ORDER BY observed_at, key_id LIMIT :limit
""")

_BOUND = sql("""
    SELECT key_id FROM dispatcher.jobs
     WHERE instance = :instance AND key_id IS NOT NULL
       AND key_id IN (SELECT jsonb_array_elements_text(CAST(:rows AS jsonb)))
""")

_LAST = sql("SELECT max(observed_at) FROM dispatcher.echoes WHERE instance = :instance")

_PURGE = sql("""
    WITH old AS (
        SELECT instance, key_id FROM dispatcher.echoes
         WHERE observed_at < {now} - make_interval(secs => :age_seconds)
         ORDER BY observed_at LIMIT :limit FOR UPDATE SKIP LOCKED)
    DELETE FROM dispatcher.echoes AS echo USING old WHERE echo.instance = old.instance AND echo.key_id = old.key_id
""")

Content = tuple[str, str, str]
"""Instance, recipient hash, text hash."""


async def insert(tx: Transaction, facts: Sequence[EchoObserved]) -> None:
    """Keep echoes; a repeated one changes nothing."""
    await tx.execute(_INSERT, {"rows": rows_json([fact.model_dump(mode="json") for fact in facts])})


async def insert_late_answers(tx: Transaction, answers: Sequence[tuple[Attempt, str]], *, now: datetime) -> None:
    """An answer with a key id that came after its lease was lost settles nothing, but it is as good as an echo."""
    rows = [
        {
            "instance": attempt.ref.instance,
            "key_id": key_id,
            "recipient_hash": attempt.recipient_hash,
            "text_hash": attempt.text_hash,
            "observed_at": now,
        }
        for attempt, key_id in answers
    ]
    await tx.execute(_INSERT, {"rows": rows_json(rows)})


async def unbound(tx: Transaction, contents: Collection[Content], *, limit: int = 1_000) -> dict[Content, list[Trace]]:
    """Echoes of these contents that belong to no job, by content."""
    rows = [
        {"instance": instance, "recipient_hash": recipient, "text_hash": text}
        for instance, recipient, text in sorted(set(contents))
    ]
    found: dict[Content, list[Trace]] = {}
    for row in await tx.execute(_UNBOUND, {"rows": rows_json(rows), "limit": limit}):
        trace = Trace(key_id=row.key_id, seen_at=row.observed_at)
        found.setdefault((row.instance, row.recipient_hash, row.text_hash), []).append(trace)
    return found


async def bound_keys(tx: Transaction, instance: str, key_ids: Collection[str]) -> set[str]:
    """Those of `key_ids` that belong to a job already."""
    parameters = {"instance": instance, "rows": rows_json(sorted(key_ids))}
    return set((await tx.execute(_BOUND, parameters)).scalars())


async def last_observed_at(tx: Transaction, instance: str) -> datetime | None:
    """When the lane was last heard to send anything."""
    value: datetime | None = (await tx.execute(_LAST, {"instance": instance})).scalar_one()
    return value


async def purge(tx: Transaction, *, older_than: timedelta, limit: int, now: datetime | None) -> int:
    """Forget old echoes, up to `limit`; how many."""
    parameters = {"age_seconds": older_than.total_seconds(), "limit": limit, "now": now}
    return (await tx.execute(_PURGE, parameters)).rowcount
