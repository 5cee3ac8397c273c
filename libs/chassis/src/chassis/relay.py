"""Moves what the outbox holds to the broker: batches, confirmed, and only then deleted."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from prometheus_client import Counter, Gauge
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Executable,
    Table,
    any_,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy import update as update_rows

from chassis.confirms import Outcome
from chassis.database import Database, Transaction, UnavailableError, notify_channel
from chassis.listener import Listener
from chassis.loop import Loop
from chassis.publish_frames import Outgoing
from chassis.publisher import BrokerLostError, Publisher
from chassis.spacing import Spacing
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry

logger = get_logger(__name__)

POLL_SECONDS = 1.0
AHEAD_POLL_SECONDS = 60.0
SPACING_SECONDS = 0.02
RETURNED_BACKOFF_SECONDS_MAX = 300

published_total = Counter(
    "pilot_outbox_published_total", "Outbox rows handed to the broker, by outcome.", ["outcome"], registry=registry
)
oldest_age_seconds = Gauge(
    "pilot_outbox_oldest_age_seconds",
    "Age of the oldest row of the last batch, of all rows while the broker is away; 0 when empty.",
    registry=registry,
)


class OutboxRelay:
    """Any number of relays may work one outbox: each locks the rows it is publishing, and a crash frees them at once.

    The transaction stays open while a bounded batch is published to our own broker: the one exception to "no
    transaction across a network", because it makes a lease, and waiting one out after a crash, unnecessary.
    While one full batch waits for its confirms, a second loop reads and publishes the next, in the order of the rows.
    Under load, batches that are not full begin `SPACING_SECONDS` apart; what is said to an idle relay leaves at once.
    """

    def __init__(
        self, database: Database, outbox: Table, publisher: Publisher, *, database_url: str, batch_size: int = 200
    ) -> None:
        self.name = "outbox-relay"
        self._database, self._outbox, self._publisher = database, outbox, publisher
        self._batch_size = batch_size
        self._read, self._delete, self._oldest = _due(outbox, batch_size), _confirmed(outbox), _oldest(outbox)
        self._spacing = Spacing(SPACING_SECONDS)
        self._loop = Loop(self.name, self._move_in_turn, interval_seconds=POLL_SECONDS, failure_pause_seconds=0.5)
        self._ahead = Loop(
            f"{self.name}-ahead", self.move_batch, interval_seconds=AHEAD_POLL_SECONDS, failure_pause_seconds=0.5
        )
        self._turn = asyncio.Lock()
        self._listener = Listener(database_url, notify_channel(outbox), self._loop.wake)
        database.wake_on_commit(self._loop.wake)

    async def start(self) -> None:
        """Begin moving; a broker or database that is down only delays it."""
        await self._listener.start()
        await self._loop.start()
        await self._ahead.start()

    async def stop(self) -> None:
        """Move what can be moved, then close."""
        await self._listener.stop()
        await self._loop.stop()
        await self._ahead.stop()
        with contextlib.suppress(UnavailableError):
            while await self.move_batch():
                pass
        await self._publisher.close()

    async def _move_in_turn(self) -> bool:
        await asyncio.sleep(self._spacing.pause_seconds())
        return await self.move_batch()

    async def move_batch(self) -> bool:
        """Publish one batch; True if there may be more. Raises `UnavailableError` while the broker is away."""
        try:
            await self._publisher.ensure_open()
        except BrokerLostError as error:
            await self._show_age()
            raise UnavailableError(f"broker: {error}") from error
        async with self._database.transaction() as tx:
            async with self._turn:
                rows = (await tx.execute(self._read)).all()
                publishing = asyncio.ensure_future(self._publisher.publish([_outgoing(row) for row in rows]))
            is_full = len(rows) == self._batch_size
            self._spacing.began(0 if is_full else len(rows))
            if is_full:
                self._ahead.wake()
            outcomes = await publishing
            await self._settle(tx, rows, outcomes)
        oldest_age_seconds.set(rows[0].age_seconds if rows else 0)
        if Outcome.LOST in outcomes:
            raise UnavailableError("broker: connection lost while publishing")
        return is_full

    async def _show_age(self) -> None:
        async with self._database.transaction() as tx:
            oldest_age_seconds.set((await tx.execute(self._oldest)).scalar_one())

    async def _settle(self, tx: Transaction, rows: Sequence[Any], outcomes: Sequence[Outcome]) -> None:
        ids: dict[Outcome, list[int]] = {outcome: [] for outcome in Outcome}
        for row, outcome in zip(rows, outcomes, strict=True):
            ids[outcome].append(row.id)
        for outcome in Outcome:
            published_total.labels(outcome=outcome.value).inc(len(ids[outcome]))
        if ids[Outcome.CONFIRMED]:
            await tx.execute(self._delete, {"ids": ids[Outcome.CONFIRMED]})
        if ids[Outcome.RETURNED]:
            logger.warning("outbox_rows_returned", count=len(ids[Outcome.RETURNED]))
            await tx.execute(_hold_back(self._outbox), {"ids": ids[Outcome.RETURNED]})


def _age(outbox: Table) -> ColumnElement[Any]:
    return func.extract("epoch", func.clock_timestamp() - outbox.c.said_at)


def _oldest(outbox: Table) -> Executable:
    """By the index of its key: rows are nearly in the order in which they were said."""
    first = select(_age(outbox)).order_by(outbox.c.id).limit(1).scalar_subquery()
    return select(func.coalesce(first, 0))


def _due(outbox: Table, limit: int) -> Executable:
    columns = outbox.c
    return (
        select(outbox, _age(outbox).label("age_seconds"))
        .where(or_(columns.not_before.is_(None), columns.not_before <= func.clock_timestamp()))
        .order_by(columns.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )


def _among(outbox: Table) -> Any:
    return outbox.c.id == any_(bindparam("ids", type_=ARRAY(BigInteger)))


def _confirmed(outbox: Table) -> Executable:
    return delete(outbox).where(_among(outbox))


def _hold_back(outbox: Table) -> Executable:
    attempts = func.least(outbox.c.attempts, 20)
    seconds = func.least(func.power(2, attempts), RETURNED_BACKOFF_SECONDS_MAX)
    return (
        update_rows(outbox)
        .where(_among(outbox))
        .values(
            attempts=attempts + 1, not_before=func.clock_timestamp() + seconds * literal_column("interval '1 second'")
        )
    )


def _outgoing(row: Any) -> Outgoing:
    return Outgoing(
        statement_id=row.statement_id,
        exchange=row.exchange,
        routing_key=row.routing_key,
        type=row.type,
        body=row.body,
        traceparent=row.headers.get("traceparent"),
        said_at=row.said_at,
    )
