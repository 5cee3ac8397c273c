"""How PostgreSQL carries a claim out among 100,000 READY jobs and 1,000 lanes: heads of indexes, no more."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import TextClause
from tests.bench.claim_ground import JOBS, LANES

from contracts.values import Category
from dispatcher.domain.claim_pass import looks, take_turns
from dispatcher.store import claiming
from dispatcher.store.claiming import DueLanes
from dispatcher.store.sql import rows_json, sql

from .crowd import crowd, make_room
from .rig import FAST, Rig

CAPACITY = 10
STREAMS = 24


async def fill(rig: Rig) -> None:
    """100,000 jobs of 1,000 tenants that wait in 1,000 lanes, each of which deserves a look."""
    rig.now.value = (await rig.rows("SELECT now() + interval '1 minute' AS now"))[0].now
    connection = await rig.database.engine.raw_connection()
    try:
        driver: Any = connection.driver_connection
        await driver.execute("SET statement_timeout = 0")
        await driver.execute(LANES, 1_000, FAST.model_copy(update={"max_in_flight": 1}).model_dump_json())
        await driver.execute(JOBS, 100_000, 1_000, 1_000, timeout=120)
        await driver.execute("ANALYZE dispatcher.jobs, dispatcher.lanes", timeout=120)
        await driver.execute("RESET statement_timeout")
    finally:
        connection.close()


async def plan(tx: Any, statement: TextClause, **parameters: Any) -> dict[str, Any]:
    """The plan of a statement, carried out."""
    explained = sql(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.text}")
    return dict((await tx.execute(explained, parameters)).scalar_one()[0])


async def plans_of_a_pass(rig: Rig) -> dict[str, dict[str, Any]]:
    """The three statements of one pass, as they were carried out one after the other."""
    now = rig.now()
    async with rig.database.transaction() as tx:
        lock = await plan(tx, claiming.LOCK_DUE, capacity=CAPACITY, now=now)
        due = await claiming.lock_due(tx, capacity=CAPACITY, now=now)
        asked = parameters_of_look(due, now)
        read = await plan(tx, claiming.READ_HEADS, **asked)
        heads = await claiming.read_heads(tx, looks(due.lanes, capacity=CAPACITY), now=now)
        turns = take_turns(due.lanes, heads, capacity=CAPACITY, now=now, dice=rig.roll)
        picks = [claiming.key_row(head.key) for one in turns for head in one.turn.picks]
        assert len(picks) == CAPACITY
        written = [claiming.turn_row(one) for one in turns]
        claim = await plan(
            tx, claiming.CLAIM, picks=rows_json(picks), turns=rows_json(written), lease_seconds=60.0, now=now
        )
    return {"lock": lock, "read": read, "claim": claim}


def parameters_of_look(due: DueLanes, now: datetime) -> dict[str, Any]:
    asked = looks(due.lanes, capacity=CAPACITY)
    return {"instances": [look.instance for look in asked], "depths": [look.depth for look in asked], "now": now}


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan's nodes."""
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


def rows_of(node: dict[str, Any]) -> float:
    """Rows a node has looked at, in all its loops."""
    return float((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])


def pages_of(explained: dict[str, Any]) -> int:
    """Pages a statement has looked at: those of dead entries too."""
    return int(explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"])


@pytest.mark.slow
async def test_a_pass_reads_the_heads_of_indexes_and_sorts_nothing(rig: Rig) -> None:
    await fill(rig)
    for name, explained in (await plans_of_a_pass(rig)).items():
        nodes = list(walk(explained["Plan"]))
        scans = [
            node for node in nodes if node.get("Relation Name") in ("jobs", "lanes") and "Scan" in node["Node Type"]
        ]
        assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}, name
        assert max(rows_of(node) for node in scans) <= STREAMS * CAPACITY, name
        assert not any("Sort" in node["Node Type"] for node in nodes), name
        assert "JIT" not in explained, name
        assert pages_of(explained) < 3_000, name


@pytest.mark.slow
async def test_an_old_snapshot_does_not_make_a_pass_walk_over_the_dead(rig: Rig) -> None:
    """What was claimed stays in the index while somebody may still see it. The floors are what skips it."""
    await rig.open_lane(pacing=FAST.model_copy(update={"max_in_flight": 100}))
    await crowd(rig, 3_000, category=Category.MARKETING)
    async with rig.database.engine.connect() as old:
        await old.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await old.exec_driver_sql("SELECT count(*) FROM dispatcher.jobs")
        for _ in range(25):
            assert len((await rig.claim_only(100)).attempts) == 100
            await make_room(rig, {"loja": 100})
        with_floors = await pages_of_a_look(rig)
        await rig.write("UPDATE dispatcher.lanes SET floors = array_fill(0.0::float8, ARRAY[24])")
        without = await pages_of_a_look(rig)
    assert with_floors < 5 * STREAMS, "a descent of the index for each stream"
    assert without > 2 * with_floors, "or else the test proves nothing"


async def pages_of_a_look(rig: Rig) -> int:
    parameters = {"instances": ["loja"], "depths": [10], "now": rig.now()}
    async with rig.database.transaction() as tx:
        return pages_of(await plan(tx, claiming.READ_HEADS, **parameters))
