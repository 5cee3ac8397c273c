"""What is kept and for how long: when a key was last used, and the log of changes."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from api.access.usecases import USES_WRITTEN_EVERY, RememberUses
from api.operators.domain import first_id_of
from api.operators.usecases import forget_changes
from api.operators.usecases.forget_changes import ForgetChanges
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database
from chassis.testing.template_database import TestDatabase

from .running import Account, RunningApi, soon


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> datetime:
        self.now += by
        return self.now


@pytest.fixture
async def database(api_database: TestDatabase) -> AsyncIterator[Database]:
    opened = Database(api_database.url("api"), outbox=OUTBOX, pool_size=2)
    yield opened
    await opened.stop()


async def key_id_of(api: RunningApi, account: Account) -> UUID:
    """Asked of the database: asking the api with the key would be a use of it."""
    [row] = await api.rows("SELECT id FROM api.api_keys WHERE project_id = $1", UUID(account.project_id))
    key_id: UUID = row["id"]
    return key_id


async def written(api: RunningApi, key_id: UUID) -> datetime | None:
    rows = await api.rows("SELECT last_used_at FROM api.api_key_uses WHERE key_id = $1", key_id)
    return rows[0]["last_used_at"] if rows else None


async def test_a_key_shows_when_it_was_last_used(api: RunningApi) -> None:
    account = await api.account()
    began = datetime.now(UTC)
    assert (await api.send(account.key)).status_code == 202

    async def is_shown() -> bool:
        [row] = (await api.get(account.key, "api-keys")).json()
        return row["lastUsedAt"] is not None

    await soon(is_shown, "the use of the key written")
    at = await written(api, await key_id_of(api, account))
    assert at is not None
    assert began - timedelta(seconds=1) <= at <= datetime.now(UTC) + timedelta(seconds=1)


async def test_a_use_is_written_once_a_minute_and_the_last_one_in_the_end(api: RunningApi, database: Database) -> None:
    key_id = await key_id_of(api, await api.account())
    clock = Clock()
    uses = RememberUses(database=database, clock=clock)
    first = clock.now
    uses.saw(key_id)
    assert await uses.step() is False
    assert await written(api, key_id) == first
    for _ in range(5):
        clock.advance(timedelta(seconds=5))
        uses.saw(key_id)
        await uses.step()
        assert await written(api, key_id) == first
    last = clock.advance(USES_WRITTEN_EVERY)
    uses.saw(key_id)
    await uses.step()
    assert await written(api, key_id) == last


async def test_another_replica_does_not_write_it_again(api: RunningApi, database: Database) -> None:
    key_id = await key_id_of(api, await api.account())
    clock = Clock()
    one, other = (RememberUses(database=database, clock=clock) for _ in range(2))
    one.saw(key_id)
    await one.step()
    first = clock.now
    clock.advance(timedelta(seconds=20))
    other.saw(key_id)
    await other.step()
    assert await written(api, key_id) == first


async def test_uses_beyond_what_is_noted_are_dropped_and_unknown_keys_do_no_harm(
    api: RunningApi, database: Database
) -> None:
    known, beyond = [await key_id_of(api, await api.account()) for _ in range(2)]
    uses = RememberUses(database=database, clock=Clock(), keys_max=2)
    for key_id in (UUID(int=1), known, beyond):
        uses.saw(key_id)
    await uses.step()
    assert await written(api, known) is not None
    assert await written(api, beyond) is None


async def entry(api: RunningApi, *, age: timedelta) -> UUID:
    """An entry as old as that."""
    at = utc_now() - age
    entry_id = UUID(int=first_id_of(at).int + 1)
    await api.rows(
        "INSERT INTO api.audit_entries (id, at, action, target_type, target_id, request_id)"
        " VALUES ($1, $2, 'plan.create', 'plan', $1, 'old')",
        entry_id,
        at,
    )
    return entry_id


async def present(api: RunningApi, *ids: UUID) -> list[bool]:
    rows = await api.rows("SELECT id FROM api.audit_entries WHERE id = ANY($1)", list(ids))
    found = {row["id"] for row in rows}
    return [entry_id in found for entry_id in ids]


async def test_old_entries_of_the_log_go_in_bites_and_young_ones_stay(
    api: RunningApi, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forget_changes, "BATCH", 2)
    old = [await entry(api, age=timedelta(days=15_000 + n)) for n in range(3)]
    young = await entry(api, age=timedelta(days=729))
    before = forget_changes.forgotten_total._value.get()
    forget = ForgetChanges(database=database, clock=utc_now, kept_days=730)
    assert await forget.step() is True
    assert await present(api, *old) == [True, False, False]
    while await forget.step():
        pass
    assert await present(api, *old, young) == [False, False, False, True]
    assert forget_changes.forgotten_total._value.get() - before >= 3


@pytest.mark.parametrize("days", [None, "29", "731"])
async def test_nobody_else_deletes_an_entry(api: RunningApi, days: str | None) -> None:
    """730 days old: not without a word, not by a retention below the least, not while it is younger than the word."""
    kept = await entry(api, age=timedelta(days=730, minutes=1))
    setting = f"SET LOCAL pilot.audit_kept_days = '{days}'; " if days else ""
    with pytest.raises(Exception, match="only added to"):
        await api.looker.execute(f"{setting}DELETE FROM api.audit_entries WHERE id = '{kept}'")
    assert await present(api, kept) == [True]
