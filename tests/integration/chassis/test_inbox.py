"""The inbox: a statement acts once, because its mark and its effect are one commit."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import insert, text

from chassis.inbox import first_seen, forget_old
from contracts.ids import uuid7

from .playground import INBOX, NOTES, Playground, settle


async def act(playground: Playground, *statement_ids: UUID, consumer: str = "reader", fail: bool = False) -> None:
    """What a handler does: one note for each statement it never saw."""
    async with playground.database.transaction() as tx:
        for statement_id in await first_seen(tx, INBOX, consumer, statement_ids):
            await tx.execute(insert(NOTES).values(text=f"{consumer} {statement_id}"))
        if fail:
            raise ValueError("after the mark")


async def test_a_repeat_has_no_effect_and_another_consumer_has_its_own_marks(playground: Playground) -> None:
    one, two = uuid7(), uuid7()
    await act(playground, one, one)
    await act(playground, one, two)
    await act(playground, one, consumer="other")
    assert sorted(await playground.notes()) == sorted([f"reader {one}", f"reader {two}", f"other {one}"])


async def test_case_49_an_effect_that_failed_takes_its_mark_with_it(playground: Playground) -> None:
    statement_id = uuid7()
    with pytest.raises(ValueError, match="after the mark"):
        await act(playground, statement_id, fail=True)
    assert await playground.notes() == []
    await act(playground, statement_id)
    assert await playground.notes() == [f"reader {statement_id}"]


async def test_case_49_replicas_that_hear_the_same_at_once_act_once(playground: Playground) -> None:
    statement_ids = [uuid7() for _ in range(40)]
    batches = [statement_ids, statement_ids[::-1], statement_ids[10:], statement_ids[:30]]
    tasks = [asyncio.create_task(act(playground, *batch)) for batch in batches]
    assert await settle(tasks) == [None] * len(batches)
    assert sorted(await playground.notes()) == sorted(f"reader {statement_id}" for statement_id in statement_ids)


async def test_nothing_to_mark_asks_nothing(playground: Playground) -> None:
    async with playground.database.transaction() as tx:
        assert await first_seen(tx, INBOX, "reader", []) == set()


async def test_old_marks_go_in_bounded_portions_and_young_ones_stay(playground: Playground) -> None:
    async with playground.database.transaction() as tx:
        old, young = [uuid7() for _ in range(7)], [uuid7() for _ in range(2)]
        await first_seen(tx, INBOX, "reader", [*old, *young])
        await tx.execute(
            text("UPDATE playground.inbox SET seen_at = now() - interval '15 days' WHERE statement_id = ANY(:old)"),
            {"old": old},
        )
    deleted: list[int] = []
    for _ in range(3):
        async with playground.database.transaction() as tx:
            deleted.append(await forget_old(tx, INBOX, limit=5))
    assert deleted == [5, 2, 0]
    rows = await playground.rows("SELECT statement_id FROM playground.inbox")
    assert {row.statement_id for row in rows} == set(young)
    async with playground.database.transaction() as tx:
        assert await forget_old(tx, INBOX, older_than=timedelta(0)) == 2
