"""A number is silent if it sent something and was then unheard for long, measured against what is usual for it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from chassis.telemetry.metrics import registry
from status_ingest.store import traffic

from .conftest import Service, dispatched, reference, update

CONDITION = "pilot_status_ingest_numbers"


def shown(condition: str) -> float | None:
    """The gauge as it is scraped."""
    return registry.get_sample_value(CONDITION, {"condition": condition})


def after(**passed: float) -> datetime:
    """From now."""
    return datetime.now(UTC) + timedelta(**passed)


async def known(service: Service, instance: str = "loja") -> Any:
    """The number's row."""
    (row,) = await service.rows("SELECT * FROM status_ingest.traffic WHERE instance = :instance", instance=instance)
    return row


async def heard(service: Service, *, at: datetime) -> None:
    """An event of no consequence that arrives at that instant."""
    await service.rows(
        "INSERT INTO status_ingest.raw_events (id, received_at, event, instance, sealed)"
        " VALUES (:id, :at, 'presence.update', 'loja', '') RETURNING 1",
        id=traffic.first_id_of(at),
        at=at,
    )


async def test_sends_without_any_event_are_noticed_once_until_something_is_heard(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.silence.step()
    assert (shown("waiting"), shown("silent")) == (1, 0)
    await service.silence.step(now=after(minutes=6))
    noticed = (await known(service)).silent_since
    await service.silence.step(now=after(minutes=7))
    assert (await known(service)).silent_since == noticed
    assert noticed is not None
    assert (shown("heard"), shown("waiting"), shown("silent")) == (0, 0, 1)
    longest = registry.get_sample_value("pilot_status_ingest_longest_silence_seconds")
    assert longest is not None
    assert longest > 400
    await heard(service, at=after(minutes=8))
    await service.silence.step(now=after(minutes=9))
    row = await known(service)
    assert (row.silent_since, row.unheard_since) == (None, None)
    assert 40 < row.usual_wait_seconds < 50, "a tenth of eight minutes"
    assert (shown("heard"), shown("silent")) == (1, 0)


async def test_a_number_that_sends_nothing_is_not_silent(service: Service) -> None:
    await service.post(update("K1", "READ"))
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.silence.step()
    for hours in (1, 5, 23):
        await service.silence.step(now=after(hours=hours))
    assert (await known(service)).silent_since is None
    assert shown("heard") == 1


async def test_a_gateway_that_is_slow_to_be_heard_gets_more_patience(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.silence.step()
    await service.rows("UPDATE status_ingest.traffic SET usual_wait_seconds = 120 RETURNING 1")
    await service.silence.step(now=after(minutes=19))
    assert (await known(service)).silent_since is None
    await service.silence.step(now=after(minutes=21))
    assert (await known(service)).silent_since is not None


async def test_one_number_hears_nothing_of_another_and_strangers_are_not_followed(service: Service) -> None:
    await service.keys.submit(dispatched(reference("loja"), "K1"))
    await service.keys.submit(dispatched(reference("outra"), "K2"))
    await service.post(update("K2", "READ", instance="outra"))
    await service.post(update("K9", "READ", instance="stranger"))
    await service.silence.step()
    await service.silence.step(now=after(minutes=10))
    assert (await known(service, "loja")).silent_since is not None
    assert (await known(service, "outra")).silent_since is None
    assert len(await service.rows("SELECT 1 FROM status_ingest.traffic")) == 2


async def test_what_was_noticed_outlives_a_restart_and_is_shown_by_every_replica(
    service: Service, second: Service
) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.silence.step(now=after(minutes=6))
    noticed = (await known(service)).silent_since
    await second.silence.step(now=after(minutes=8))
    assert (await known(second)).silent_since == noticed
    async with service.database.transaction() as tx:
        assert await traffic.take_turn(tx, now=None) is not None
        await second.silence.step(now=after(hours=1))
    assert shown("silent") == 1


async def test_only_what_is_new_is_read(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.post(update("K1", "READ"))
    await service.silence.step(now=after(minutes=5))
    before = await known(service)
    await service.rows("UPDATE status_ingest.correlations SET first_seen_at = now() - interval '1 day' RETURNING 1")
    await service.silence.step(now=after(minutes=6))
    assert (await known(service)) == before
