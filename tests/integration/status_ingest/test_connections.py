"""A number's connection is told once per change: passing drops are nobody's news, a final close is told at once."""

import asyncio
from datetime import UTC, datetime, timedelta

from contracts.facts import NumberConnectionChanged
from contracts.values import ConnectionState

from .conftest import Service

CONNECTING = {"state": "connecting", "statusReason": 200}
OPEN = {"state": "open", "statusReason": 200}


def connection(data: object, *, instance: str = "loja", event: str = "connection.update") -> dict[str, object]:
    """An event about a number's connection."""
    return {"event": event, "instance": instance, "data": data}


async def told(service: Service) -> list[tuple[str, ConnectionState, str | None]]:
    """Everything said about connections, in order."""
    return [(fact.instance, fact.state, fact.reason) for fact in await service.said(NumberConnectionChanged)]


async def test_a_storm_of_reconnections_is_told_once(service: Service, second: Service) -> None:
    for _ in range(15):
        for data in (CONNECTING, OPEN, OPEN):
            await service.post(connection(data))
    async with asyncio.timeout(30):
        await asyncio.gather(*(each.interpreter.interpret(limit=7) for _ in range(5) for each in (service, second)))
        await service.interpret()
    await service.settle.step(now=datetime.now(UTC) + timedelta(hours=1))
    assert await told(service) == [("loja", ConnectionState.OPEN, None)]


async def test_a_drop_is_told_if_it_lasts_and_once(service: Service, second: Service) -> None:
    await service.post(connection(OPEN))
    await service.post(connection(CONNECTING))
    await service.post(connection(CONNECTING, instance="outra"))
    await service.post(connection(OPEN, instance="outra"))
    await service.interpret()
    await service.settle.step(now=datetime.now(UTC) + timedelta(seconds=10))
    opened = [("loja", ConnectionState.OPEN, None), ("outra", ConnectionState.OPEN, None)]
    assert await told(service) == opened
    later = datetime.now(UTC) + timedelta(seconds=20)
    await asyncio.gather(service.settle.step(now=later), second.settle.step(now=later))
    await second.settle.step(now=later + timedelta(days=1))
    assert await told(service) == [*opened, ("loja", ConnectionState.CONNECTING, None)]
    (row,) = await service.rows("SELECT seen_at FROM status_ingest.connections WHERE instance = 'loja'")
    fact = (await service.said(NumberConnectionChanged))[-1]
    assert fact.observed_at == row.seen_at, "whoever saw the number later knows better"


async def test_a_final_close_is_told_at_once_however_many_events_say_it(service: Service) -> None:
    await service.post(connection(OPEN))
    await service.post(connection({"state": "close", "statusReason": 401}))
    await service.post(
        connection(
            {"status": "closed", "disconnectionReasonCode": 401, "disconnectionAt": "x"}, event="status.instance"
        )
    )
    await service.post(connection(None, event="logout.instance"))
    await service.post(connection({"instance": "loja"}, event="remove.instance"))
    await service.interpret()
    assert await told(service) == [
        ("loja", ConnectionState.OPEN, None),
        ("loja", ConnectionState.CLOSE, "401"),
    ]


async def test_a_close_after_which_the_gateway_connects_again_is_a_passing_one(service: Service) -> None:
    await service.post(connection(OPEN))
    await service.post(connection({"state": "close", "statusReason": 428}))
    await service.post(connection(CONNECTING))
    await service.interpret()
    assert await told(service) == [("loja", ConnectionState.OPEN, None)]
    await service.post(connection({"state": "close", "statusReason": "515"}))
    await service.interpret()
    await service.settle.step(now=datetime.now(UTC) + timedelta(seconds=20))
    assert await told(service) == [("loja", ConnectionState.OPEN, None), ("loja", ConnectionState.CLOSE, "515")]


async def test_a_reconnection_is_told_again_after_a_while(service: Service) -> None:
    """In between the dispatcher may have found the number closed."""
    await service.post(connection(OPEN))
    for data, seconds in ((CONNECTING, 300), (OPEN, 301), (CONNECTING, 302), (OPEN, 303)):
        await service.arrived(connection(data), seconds=seconds)
    await service.interpret()
    assert [state for _, state, _ in await told(service)] == [ConnectionState.OPEN, ConnectionState.OPEN]


async def test_what_is_interpreted_late_changes_nothing(service: Service) -> None:
    await service.post(connection({"state": "close", "statusReason": 401}))
    await service.post(connection(CONNECTING))
    await service.post(connection(OPEN))
    ids = [row.id for row in await service.rows("SELECT id FROM status_ingest.raw_events ORDER BY received_at")]
    for event_id in reversed(ids):
        await service.interpreter.interpret(limit=1, only=event_id)
    await service.settle.step(now=datetime.now(UTC) + timedelta(hours=1))
    assert await told(service) == [("loja", ConnectionState.OPEN, None)]
