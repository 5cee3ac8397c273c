"""The age of the oldest row of a kind is measured, by instant or by the time in its id."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from chassis.database import Database
from chassis.retention import Kept, MeasureRetention
from chassis.telemetry.metrics import registry
from chassis.testing.template_database import TemplateDatabase
from contracts.ids import uuid7
from notifier.tables import KEPT as NOTIFIER
from status_ingest.tables import KEPT, quarantine, raw_events

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
async def database(template_database: TemplateDatabase) -> AsyncIterator[Database]:
    copy = await template_database.copy()
    opened = Database(copy.url("status_ingest"), pool_size=1)
    yield opened
    await opened.stop()
    await template_database.discard(copy)


def age(kind: str) -> float | None:
    return registry.get_sample_value("pilot_retention_oldest_seconds", {"kind": kind})


async def test_the_oldest_of_each_kind_is_measured(database: Database) -> None:
    async with database.transaction() as tx:
        for hours, interpreted in ((5, True), (3, True), (9, False)):
            at = NOW - timedelta(hours=hours) if interpreted else None
            values = {"id": uuid7(), "event": "e", "sealed": "s", "interpreted_at": at}
            await tx.execute(insert(raw_events).values(**values))
    measure = MeasureRetention(database=database, kinds=KEPT, clock=lambda: NOW)
    assert await measure.step() is False
    assert age("raw_event") == 5 * 3_600
    assert age("quarantined") == 0
    async with database.transaction() as tx:
        late = {"id": uuid7(), "received_at": NOW, "filed_at": NOW, "event": "e", "reason": "r"}
        await tx.execute(insert(quarantine).values(**late))
    await MeasureRetention(database=database, kinds=KEPT, clock=lambda: NOW + timedelta(days=1)).step()
    assert age("quarantined") == 86_400


async def test_an_id_tells_its_time(database: Database) -> None:
    began = datetime.now(UTC)
    async with database.transaction() as tx:
        await tx.execute(insert(raw_events).values(id=uuid7(), event="e", sealed="s"))
        by_id = Kept(kind="by_id", since=raw_events.c.id)
        oldest = await by_id.oldest(tx)
    assert oldest is not None
    assert abs((oldest - began).total_seconds()) < 60
    assert [kept.kind for kept in NOTIFIER] == ["delivery", "delivery_attempt", "purged_number"]
