"""What has served its purpose goes, in chunks, and nothing before its time."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.facts import ReceiptRecorded
from status_ingest.tables import metadata

from .conftest import Service, dispatched, reference, update


async def counts(service: Service) -> dict[str, int]:
    """Rows per table, the outbox left out."""
    found = {}
    for table in metadata.sorted_tables:
        (row,) = await service.rows(f"SELECT count(*) AS rows FROM {table}")
        found[table.name] = row.rows
    found.pop("outbox")
    return found


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (timedelta(hours=23), {"raw_events": 4, "receipts": 3, "correlations": 2, "quarantine": 1}),
        (timedelta(hours=25), {"raw_events": 1, "receipts": 3, "correlations": 2, "quarantine": 1}),
        (timedelta(hours=49), {"raw_events": 1, "receipts": 2, "correlations": 1, "quarantine": 1}),
        (timedelta(days=31), {"raw_events": 1, "receipts": 0, "correlations": 0, "quarantine": 0}),
    ],
)
async def test_each_kind_of_row_is_kept_for_its_own_time(
    service: Service, age: timedelta, left: dict[str, int]
) -> None:
    await service.keys.submit(dispatched(reference(), "KNOWN"))
    for key_id, status in (("KNOWN", "READ"), ("KNOWN", "SERVER_ACK"), ("UNKNOWN", "READ")):
        await service.post(update(key_id, status))
    await service.post(b"not json")
    await service.interpret()
    await service.post(update("WAITING", "READ"))
    assert await service.forget.step(now=datetime.now(UTC) + age) is False
    kept = await counts(service)
    assert {name: kept[name] for name in left} == left


async def test_a_backlog_is_deleted_in_chunks(service: Service) -> None:
    for number in range(5):
        await service.post(update(f"K{number}", "READ"))
    await service.interpret()
    forget = type(service.forget)(database=service.database, chunk_size=2)
    later = datetime.now(UTC) + timedelta(hours=25)
    assert await forget.step(now=later) is True
    assert (await counts(service))["raw_events"] == 3
    while await forget.step(now=later):
        pass
    assert (await counts(service))["raw_events"] == 0


async def test_a_receipt_parked_for_a_day_still_finds_its_message(service: Service) -> None:
    await service.post(update("K1", "READ"))
    await service.interpret()
    await service.forget.step(now=datetime.now(UTC) + timedelta(hours=47))
    await service.keys.submit(dispatched(reference(), "K1"))
    assert len(await service.said(ReceiptRecorded)) == 1


async def test_what_is_known_of_numbers_goes_with_their_messages(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    alias = {"remoteJid": "100000000000001@lid", "remoteJidAlt": "5547991000000@s.whatsapp.net"}
    await service.post({"event": "messages.update", "instance": "loja", "data": {**alias, "keyId": "K1", "status": 3}})
    await service.post({"event": "connection.update", "instance": "loja", "data": {"state": "open"}})
    await service.interpret()
    await service.silence.step()
    numbers = ("connections", "traffic", "lids")
    for age, left in ((timedelta(days=29), 1), (timedelta(days=31), 0)):
        await service.forget.step(now=datetime.now(UTC) + age)
        kept = await counts(service)
        assert {name: kept[name] for name in numbers} == dict.fromkeys(numbers, left)
