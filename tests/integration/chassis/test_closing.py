"""A closing statement shares its round trip, its transaction and its fate with what was said."""

import pytest
from sqlalchemy import Text, insert
from sqlalchemy.exc import DBAPIError

from chassis.database import Database
from chassis.outbox import Closing

from .playground import NOTES, Noted, Playground

NOTE = Closing("INSERT INTO playground.notes (text) VALUES (:note)", {"note": Text()})
DEPENDS_ON_A_WAKE = pytest.mark.parametrize("near", [True, False], ids=["relay is here", "relay is elsewhere"])


def one_connection(playground: Playground, *, near: bool) -> Database:
    """A database whose every transaction has the connection of the last one."""
    database = playground.another_database(pool_size=1)
    if near:
        database.wake_on_commit(lambda: None)
    return database


async def close(database: Database, *notes: str, key: str, first: str = "", then: Exception | None = None) -> None:
    """One transaction: a row at once if there is a `first`, a statement with `key`, and a closing for each note."""
    async with database.transaction() as tx:
        if first:
            await tx.execute(insert(NOTES).values(text=first))
        for note in notes:
            tx.close_with(NOTE, {"note": note})
        tx.emit(Noted(key=key))
        if then is not None:
            raise then


@DEPENDS_ON_A_WAKE
async def test_both_are_stored_in_one_transaction(playground: Playground, near: bool) -> None:
    async with one_connection(playground, near=near).transaction() as tx:
        tx.close_with(NOTE, {"note": "last"})
        tx.emit(Noted(key="said"))
        assert await playground.notes() == []
    rows = await playground.rows("""
        SELECT n.text, o.routing_key, n.xmin::text = o.xmin::text AS together
        FROM playground.notes n, playground.outbox o
    """)
    assert [tuple(row) for row in rows] == [("last", "said", True)]


@DEPENDS_ON_A_WAKE
async def test_what_went_before_is_in_the_same_transaction(playground: Playground, near: bool) -> None:
    await close(one_connection(playground, near=near), "last", key="said", first="first")
    rows = await playground.rows("""
        SELECT text, xmin::text = (SELECT xmin::text FROM playground.outbox) AS together
        FROM playground.notes ORDER BY id
    """)
    assert [tuple(row) for row in rows] == [("first", True), ("last", True)]


@DEPENDS_ON_A_WAKE
@pytest.mark.parametrize("first", ["", "first"])
async def test_one_that_fails_takes_what_was_said_with_it_and_the_other_way_round(
    playground: Playground, near: bool, first: str
) -> None:
    database = one_connection(playground, near=near)
    with pytest.raises(DBAPIError, match="invalid byte sequence"):
        await close(database, "bad \x00", key="said", first=first)
    with pytest.raises(DBAPIError, match="invalid byte sequence"):
        await close(database, "good", key="half a key \x00", first=first)
    assert await playground.notes() == []
    assert await playground.waiting() == 0


async def test_it_needs_no_statement_and_no_outbox(playground: Playground) -> None:
    database = Database(playground.url, name="test")
    async with database.transaction() as tx:
        tx.close_with(NOTE, {"note": "alone"})
    await database.stop()
    assert await playground.notes() == ["alone"]


async def test_the_next_transaction_on_its_connection_can_be_rolled_back(playground: Playground) -> None:
    database = one_connection(playground, near=True)
    await close(database, "kept", key="said")
    with pytest.raises(ValueError, match="changed my mind"):
        await close(database, "never", key="never", first="nor this", then=ValueError("changed my mind"))
    assert await playground.notes() == ["kept"]
    assert await playground.waiting() == 1


async def test_an_exception_before_the_end_leaves_nothing(playground: Playground) -> None:
    with pytest.raises(ValueError, match="changed my mind"):
        await close(one_connection(playground, near=True), "never", key="never", then=ValueError("changed my mind"))
    assert await playground.notes() == []
    assert await playground.waiting() == 0


async def test_a_transaction_has_one(playground: Playground) -> None:
    with pytest.raises(RuntimeError, match="one statement"):
        await close(playground.database, "one", "two", key="said")
    assert await playground.notes() == []
