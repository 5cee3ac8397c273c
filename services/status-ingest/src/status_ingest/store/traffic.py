"""What numbers handed over and when their gateway was heard, read from what is kept anyway."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Double, Interval, Text, Uuid, any_, bindparam, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from status_ingest.domain.silence import Passage, Traffic
from status_ingest.store.given import as_rows, moment
from status_ingest.tables import traffic, watches

SILENCE = "silence"
_INSTANT = DateTime(timezone=True)
_PASSAGES = text("""
WITH heard AS (
    SELECT event.instance, max(event.received_at) AS heard_at,
           min(event.received_at) FILTER (WHERE event.received_at >= known.unheard_since - :slack) AS answered_at
      FROM status_ingest.raw_events AS event LEFT JOIN status_ingest.traffic AS known USING (instance)
     WHERE event.id >= :since_id AND event.instance IS NOT NULL
     GROUP BY event.instance
), sent AS (
    SELECT one.instance, max(one.first_seen_at) AS dispatched_at,
           min(one.first_seen_at) FILTER (
               WHERE one.first_seen_at > coalesce(greatest(heard.heard_at, known.heard_at), '-infinity') + :slack
           ) AS unheard_at
      FROM status_ingest.correlations AS one
      LEFT JOIN heard USING (instance) LEFT JOIN status_ingest.traffic AS known USING (instance)
     WHERE one.ref IS NOT NULL AND one.first_seen_at >= :since
     GROUP BY one.instance
)
SELECT instance, heard.heard_at, heard.answered_at, sent.dispatched_at, sent.unheard_at
  FROM sent FULL JOIN heard USING (instance) LEFT JOIN status_ingest.traffic AS known USING (instance)
 WHERE sent.instance IS NOT NULL OR known.instance IS NOT NULL
""").bindparams(
    bindparam("slack", type_=Interval), bindparam("since", type_=_INSTANT), bindparam("since_id", type_=Uuid)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Somebody's turn to look: up to when somebody looked before, and the database's clock."""

    until: datetime | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers that handed something over lately; `longest` is for how long the longest silence lasts."""

    numbers: int
    waiting: int
    silent: int
    longest: timedelta
    last_heard_at: datetime | None


async def add_watch(tx: Transaction) -> None:
    """Make sure that there is something to take a turn at."""
    await tx.execute(upsert(watches).values(name=SILENCE).on_conflict_do_nothing())


async def take_turn(tx: Transaction, *, now: datetime | None) -> Turn | None:
    """None while another replica looks."""
    found = select(watches.c.until, moment(now).label("now")).where(watches.c.name == SILENCE)
    row = (await tx.execute(found.with_for_update(skip_locked=True))).one_or_none()
    return None if row is None else Turn(until=row.until, now=row.now)


async def end_turn(tx: Transaction, *, until: datetime) -> None:
    """Note up to when it was looked at."""
    await tx.execute(update(watches).where(watches.c.name == SILENCE).values(until=until))


async def passages(tx: Transaction, *, since: datetime, slack: timedelta) -> list[Passage]:
    """What passed per number that ever handed something over; reads only what is newer than `since`."""
    parameters = {"since": since, "since_id": first_id_of(since), "slack": slack}
    return [Passage(**row) for row in (await tx.execute(_PASSAGES, parameters)).mappings()]


async def known_traffic(tx: Transaction, instances: Collection[str]) -> dict[str, Traffic]:
    """Of these numbers, and of all that wait to be heard."""
    asked = traffic.c.instance == any_(bindparam("instances", list(instances), ARRAY(Text)))
    rows = await tx.execute(select(traffic).where(or_(asked, traffic.c.unheard_since.is_not(None))))
    return {row.instance: _traffic(row) for row in rows}


async def save_traffic(tx: Transaction, after: Sequence[Traffic]) -> None:
    """Write them down, new ones too; only whose turn it is writes here."""
    given = as_rows(
        "given",
        instance=(Text(), [one.instance for one in after]),
        heard_at=(_INSTANT, [one.heard_at for one in after]),
        dispatched_at=(_INSTANT, [one.dispatched_at for one in after]),
        unheard_since=(_INSTANT, [one.unheard_since for one in after]),
        usual_wait_seconds=(Double(), [one.usual_wait_seconds for one in after]),
        silent_since=(_INSTANT, [one.silent_since for one in after]),
    )
    names = ["instance", "heard_at", "dispatched_at", "unheard_since", "usual_wait_seconds", "silent_since"]
    written = upsert(traffic).from_select(names, select(*(given.c[name] for name in names)))
    changed = {name: written.excluded[name] for name in names[1:]}
    await tx.execute(written.on_conflict_do_update(index_elements=["instance"], set_=changed))


async def count_silent(tx: Transaction, *, now: datetime | None) -> Counts:
    """One row over all numbers."""
    is_silent = traffic.c.silent_since.is_not(None)
    counted = select(
        func.count().label("numbers"),
        func.count().filter(traffic.c.unheard_since.is_not(None) & ~is_silent).label("waiting"),
        func.count().filter(is_silent).label("silent"),
        (moment(now) - func.min(traffic.c.unheard_since).filter(is_silent)).label("longest"),
        func.max(traffic.c.heard_at).label("last_heard_at"),
    )
    row = (await tx.execute(counted)).one()
    return Counts(
        numbers=row.numbers,
        waiting=row.waiting,
        silent=row.silent,
        longest=row.longest or timedelta(0),
        last_heard_at=row.last_heard_at,
    )


def first_id_of(instant: datetime) -> UUID:
    """The smallest UUIDv7 of an instant: ids of events grow with their arrival."""
    return UUID(int=(int(instant.timestamp() * 1000) << 80) | (0x7 << 76) | (0x2 << 62))


def _traffic(row: Any) -> Traffic:
    return Traffic(
        instance=row.instance,
        heard_at=row.heard_at,
        dispatched_at=row.dispatched_at,
        unheard_since=row.unheard_since,
        usual_wait_seconds=row.usual_wait_seconds,
        silent_since=row.silent_since,
    )
