"""Outbox and relay: what is committed is published, what is not is not, and nothing is forgotten on the way."""

import asyncio
from uuid import UUID

import pytest
from aio_pika.abc import DeliveryMode
from sqlalchemy import insert, text
from sqlalchemy.exc import DBAPIError

from chassis import relay as relay_module
from chassis.database import Database
from chassis.relay import OutboxRelay
from chassis.telemetry.metrics import registry
from chassis.telemetry.tracing import span
from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire

from .playground import NOTES, Astray, Noted, Playground, StartRelay


async def note_and_say(playground: Playground, text: str, *statements: Noted, then: Exception | None = None) -> None:
    """One transaction with a row and statements."""
    async with playground.database.transaction() as tx:
        await tx.execute(insert(NOTES).values(text=text))
        tx.emit(*statements)
        assert await playground.waiting() == 0
        if then is not None:
            raise then


async def test_row_and_statement_are_stored_together_or_not_at_all(playground: Playground) -> None:
    with pytest.raises(ValueError, match="changed my mind"):
        await note_and_say(playground, "never", Noted(key="never"), then=ValueError("changed my mind"))
    assert await playground.notes() == []
    assert await playground.waiting() == 0
    await note_and_say(playground, "kept", Noted(key="kept"))
    assert await playground.notes() == ["kept"]
    assert await playground.waiting() == 1


async def test_a_statement_that_cannot_be_stored_takes_its_row_with_it(playground: Playground) -> None:
    with pytest.raises(DBAPIError, match="invalid byte sequence"):
        await note_and_say(playground, "never", Noted(key="half a key \x00"))
    assert await playground.notes() == []


async def test_a_published_row_is_deleted_and_arrives_complete(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    await playground.say(Noted(key=key, text="olá"))
    stored = (await playground.rows("SELECT statement_id, said_at FROM playground.outbox"))[0]
    await playground.relay()
    message = (await tap.receives(1))[0]
    await playground.drained()
    assert Noted.model_validate_json(message.body) == Noted(key=key, text="olá")
    assert message.message_id == str(stored.statement_id)
    assert UUID(message.message_id).version == 7
    assert message.type == "note.noted.v1"
    assert message.delivery_mode == DeliveryMode.PERSISTENT
    assert message.timestamp == stored.said_at.replace(microsecond=0)
    assert message.headers["cloudEvents:id"] == message.message_id
    assert message.headers["cloudEvents:type"] == "note.noted.v1"
    assert message.headers["cloudEvents:source"] == "/pilot/test"
    assert message.headers["cloudEvents:time"] == stored.said_at.isoformat()
    assert message.headers["cloudEvents:specversion"] == "1.0"


async def test_the_trace_that_said_it_continues(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    with span("say", parent=f"00-{trace_id}-00f067aa0ba902b7-01"):
        await playground.say(Noted(key=key))
    await playground.relay()
    assert str((await tap.receives(1))[0].headers["traceparent"]).split("-")[1] == trace_id


async def test_statements_arrive_in_the_order_they_were_said(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    for first in range(0, 60, 20):
        await playground.say(*(Noted(key=key, text=f"{number}") for number in range(first, first + 20)))
    await playground.relay(batch_size=7)
    heard = await tap.receives(60)
    assert [Noted.model_validate_json(message.body).text for message in heard] == [f"{n}" for n in range(60)]


async def test_what_nobody_listens_to_waits_with_backoff_and_goes_when_the_queue_appears(
    playground: Playground,
) -> None:
    heard_key, unheard_key = playground.key(), playground.key()
    tap = await playground.tap(heard_key)
    await playground.say(Noted(key=unheard_key), Noted(key=heard_key))
    await playground.relay()
    await tap.receives(1)

    async def is_held_back() -> bool:
        rows = await playground.rows("SELECT attempts, not_before > said_at AS later FROM playground.outbox")
        return [(row.attempts, row.later) for row in rows] == [(1, True)]

    await eventually(is_held_back, "one row held back")
    late = await playground.tap(unheard_key)
    await late.receives(1)
    await playground.drained()


async def test_backoff_doubles_to_a_bound(playground: Playground) -> None:
    await playground.say(Noted(key=playground.key()))
    relay = await playground.relay()
    for attempts, seconds in ((0, 1), (3, 8), (8, 256), (20, 300), (32_000, 300)):
        await relay_turned_away(playground, relay, attempts=attempts)
        row = (
            await playground.rows("SELECT attempts, extract(epoch FROM not_before - now()) s FROM playground.outbox")
        )[0]
        assert row.attempts == min(attempts, 20) + 1
        assert seconds - 5 < row.s <= seconds


async def relay_turned_away(playground: Playground, relay: OutboxRelay, *, attempts: int) -> None:
    """Let the relay try once a row that has been tried `attempts` times."""
    async with playground.database.transaction() as tx:
        update = "UPDATE playground.outbox SET attempts = :attempts, not_before = NULL"
        await tx.execute(text(update), {"attempts": attempts})

    async def was_tried() -> bool:
        await relay.move_batch()
        return (await playground.rows("SELECT not_before FROM playground.outbox"))[0].not_before is not None

    await eventually(was_tried, "an attempt")


async def test_case_60_a_missing_exchange_holds_up_its_own_rows_alone(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    await playground.say(Astray(key=key), *(Noted(key=key, text=f"{number}") for number in range(20)))
    await playground.relay(batch_size=5)
    heard = await tap.receives(20)
    assert len({message.message_id for message in heard}) == 20

    async def only_the_astray_is_left() -> bool:
        rows = await playground.rows("SELECT exchange, not_before FROM playground.outbox")
        return [row.exchange for row in rows] == [Astray.EXCHANGE] and rows[0].not_before is not None

    await eventually(only_the_astray_is_left, "one row held back")


async def test_case_60_while_the_broker_is_away_rows_wait_and_nobody_notices_but_them(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    async with Wire(playground.broker_url, default_port=5672) as wire:
        relay = await playground.relay(broker_url=wire.url)
        await playground.say(Noted(key=key, text="before"))
        await tap.receives(1)
        wire.cut()
        for number in range(20):
            await asyncio.wait_for(playground.say(Noted(key=key, text=f"{number}")), timeout=5)
        assert await playground.waiting() == 20
        relay_module.oldest_age_seconds.set(0)
        await eventually(
            lambda: (registry.get_sample_value("pilot_outbox_oldest_age_seconds") or 0) > 0, "their age seen"
        )
        wire.mend()
        heard = await tap.receives(21)
        await playground.drained()
        assert {Noted.model_validate_json(message.body).text for message in heard} == {
            "before",
            *(f"{number}" for number in range(20)),
        }
        await relay.stop()


async def test_case_60_a_broker_that_falls_silent_is_given_up_and_taken_up_again(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    async with Wire(playground.broker_url, default_port=5672) as wire:
        relay = await playground.relay(broker_url=wire.url)
        await playground.say(Noted(key=key, text="before"))
        await tap.receives(1)
        wire.mute()
        await playground.say(Noted(key=key, text="during"))

        async def is_free_again() -> bool:
            rows = await playground.rows("SELECT id FROM playground.outbox FOR UPDATE SKIP LOCKED")
            return len(rows) == 1

        await eventually(is_free_again, "the row no longer held by a publish that hangs")
        wire.mend()
        heard = await tap.receives(2)
        await playground.drained()
        assert {Noted.model_validate_json(message.body).text for message in heard} == {"before", "during"}
        await relay.stop()


async def test_a_relay_outlives_its_database(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    async with Wire(playground.url, default_port=5432) as wire:
        database = playground.another_database(url=wire.url)
        relay = await playground.relay(database=database)
        wire.cut()
        await playground.say(Noted(key=key))
        wire.mend()
        await tap.receives(1)
        await playground.drained()
        await relay.stop()
        await database.stop()


async def test_several_relays_share_the_work_and_publish_each_row_once(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    for _ in range(3):
        await playground.relay(database=playground.another_database(), batch_size=10)
    await asyncio.gather(
        *(playground.say(*(Noted(key=key, text=f"{batch}-{number}") for number in range(10))) for batch in range(30))
    )
    heard = await tap.receives(300)
    await playground.drained()
    await tap.drain()
    assert len(heard) == 300
    assert len({message.message_id for message in heard}) == 300


async def test_a_killed_relay_frees_its_rows_at_once(playground: Playground, start_relay: StartRelay) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    async with Wire(playground.broker_url, default_port=5672) as wire:
        process = await start_relay(playground.url, wire.url)
        await playground.say(Noted(key=key, text="first"))
        await tap.receives(1)
        await playground.drained()
        wire.mute()
        await playground.say(Noted(key=key, text="second"))

        async def free_rows() -> int:
            return len(await playground.rows("SELECT id FROM playground.outbox FOR UPDATE SKIP LOCKED"))

        async def is_held() -> bool:
            return await free_rows() == 0

        await eventually(is_held, "the row held by the relay")
        assert await playground.waiting() == 1
        process.kill()
        await process.wait()

        async def is_free() -> bool:
            return await free_rows() == 1

        await eventually(is_free, "the row free again", timeout_seconds=5)
        await playground.relay()
        await tap.receives(2)
        await playground.drained()


@pytest.fixture
def long_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on relays look only when they are told to."""
    monkeypatch.setattr(relay_module, "POLL_SECONDS", 600.0)


@pytest.mark.usefixtures("long_poll")
async def test_what_another_process_says_wakes_a_relay(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    await playground.relay()
    elsewhere = playground.another_database()
    for number in range(3):
        await playground.say(Noted(key=key), database=elsewhere)
        await tap.receives(number + 1)


@pytest.mark.usefixtures("long_poll")
async def test_what_its_own_process_says_wakes_a_relay_without_sql(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    await playground.relay()
    for number in range(3):
        await playground.say(Noted(key=key))
        await tap.receives(number + 1)


@pytest.mark.usefixtures("long_poll")
async def test_a_stopping_relay_moves_what_is_left(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    relay = await playground.relay(batch_size=5)
    await playground.say(*(Noted(key=key) for _ in range(23)))
    await relay.stop()
    assert await playground.waiting() == 0
    await tap.receives(23)


async def test_a_database_without_outbox_refuses_to_speak(playground: Playground) -> None:
    database = Database(playground.url, name="test")
    with pytest.raises(RuntimeError, match="no outbox"):
        async with database.transaction() as tx:
            tx.emit(Noted(key="x"))
    await database.stop()
