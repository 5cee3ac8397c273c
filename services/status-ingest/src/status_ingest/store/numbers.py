"""What is known of numbers: how each was last seen connected, and who is behind their LIDs."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import DateTime, Text, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from contracts.values import ConnectionState
from status_ingest.domain.connections import LASTS_AFTER, Connection
from status_ingest.domain.findings import Lid
from status_ingest.store.given import as_rows, moment
from status_ingest.tables import connections, lids

LID_REFRESHED_AFTER = timedelta(days=1)
_INSTANT = DateTime(timezone=True)


async def lock_connections(tx: Transaction, instances: Collection[str]) -> dict[str, Connection]:
    """Make sure that a row exists for each number and lock it, in the order of their names."""
    given = as_rows("given", instance=(Text(), sorted(instances)))
    locked = upsert(connections).from_select(["instance"], select(given.c.instance))
    locked = locked.on_conflict_do_update(index_elements=["instance"], set_={"instance": locked.excluded.instance})
    return {row.instance: _connection(row) for row in await tx.execute(locked.returning(connections))}


async def save_connections(tx: Transaction, after: Sequence[Connection]) -> None:
    """Write locked rows back."""
    given = as_rows(
        "given",
        instance=(Text(), [one.instance for one in after]),
        state=(Text(), [one.state for one in after]),
        reason=(Text(), [one.reason for one in after]),
        since=(_INSTANT, [one.since for one in after]),
        seen_at=(_INSTANT, [one.seen_at for one in after]),
        told=(Text(), [one.told for one in after]),
        told_at=(_INSTANT, [one.told_at for one in after]),
    )
    names = ("state", "reason", "since", "seen_at", "told", "told_at")
    written = update(connections).where(connections.c.instance == given.c.instance)
    await tx.execute(written.values({name: given.c[name] for name in names}))


async def take_unsettled(tx: Transaction, *, now: datetime | None, limit: int) -> list[tuple[Connection, datetime]]:
    """Lock numbers whose drop has lasted and was not told, each with the instant; whoever else looks takes others."""
    lasting = connections.c.state.is_distinct_from(connections.c.told) & (
        connections.c.since <= moment(now) - LASTS_AFTER
    )
    found = select(connections, moment(now).label("now")).where(lasting).order_by(connections.c.since).limit(limit)
    return [(_connection(row), row.now) for row in await tx.execute(found.with_for_update(skip_locked=True))]


async def learn_lids(tx: Transaction, behind: Mapping[Lid, str], *, seen_at: datetime | None = None) -> None:
    """Remember who is behind which LID; what is known and was seen lately is left as it is."""
    ordered = sorted(behind)
    given = as_rows(
        "given",
        instance=(Text(), [lid.instance for lid in ordered]),
        lid_hash=(Text(), [lid.digest for lid in ordered]),
        recipient_hash=(Text(), [behind[lid] for lid in ordered]),
    )
    rows = select(given.c.instance, given.c.lid_hash, given.c.recipient_hash, moment(seen_at))
    learnt = upsert(lids).from_select(["instance", "lid_hash", "recipient_hash", "seen_at"], rows)
    is_news = (lids.c.recipient_hash != learnt.excluded.recipient_hash) | (
        lids.c.seen_at < learnt.excluded.seen_at - LID_REFRESHED_AFTER
    )
    await tx.execute(
        learnt.on_conflict_do_update(
            index_elements=["instance", "lid_hash"],
            set_={"recipient_hash": learnt.excluded.recipient_hash, "seen_at": learnt.excluded.seen_at},
            where=is_news,
        )
    )


async def people_behind(tx: Transaction, asked: Collection[Lid]) -> dict[Lid, str]:
    """The recipient hashes of those LIDs that are known."""
    given = as_rows(
        "given",
        instance=(Text(), [lid.instance for lid in asked]),
        lid_hash=(Text(), [lid.digest for lid in asked]),
    )
    known = select(lids).where(tuple_(lids.c.instance, lids.c.lid_hash) == tuple_(given.c.instance, given.c.lid_hash))
    return {Lid(instance=row.instance, digest=row.lid_hash): row.recipient_hash for row in await tx.execute(known)}


def _connection(row: Any) -> Connection:
    return Connection(
        instance=row.instance,
        state=ConnectionState(row.state) if row.state else None,
        reason=row.reason,
        since=row.since,
        seen_at=row.seen_at,
        told=ConnectionState(row.told) if row.told else None,
        told_at=row.told_at,
    )
