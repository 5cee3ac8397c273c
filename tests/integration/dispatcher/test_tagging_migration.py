"""The migration that brought tags: what waited before is tagged as if it had just arrived, and lost on no way."""

import importlib.util
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from contracts.values import Category

from .rig import Rig

VERSIONS = Path(__file__).parents[3] / "services/dispatcher/migrations/versions"


@pytest.fixture
def migration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("turns", VERSIONS / "0004_turns.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_what_was_ready_before_is_tagged_and_claimed_in_fair_order(rig: Rig, migration: ModuleType) -> None:
    await rig.open_lane()
    many, few = uuid4(), uuid4()
    messages = [
        rig.message(tenant_id=tenant, category=Category.UTILITY, said=f"m{number}", due_in=-number, weight=weight)
        for tenant, weight, count in ((many, 1, 5), (few, 2, 3))
        for number in range(count)
    ]
    homeless = rig.message(instance="nobody")
    await rig.accept(*messages, homeless)
    async with rig.database.transaction() as tx:
        await tx.execute(text("TRUNCATE dispatcher.flows"))
        await tx.execute(text("ALTER TABLE dispatcher.jobs DROP CONSTRAINT ck_jobs_ready_is_tagged"))
        await tx.execute(text("UPDATE dispatcher.jobs SET state = 'READY', tag = NULL, parked = false, cold = true"))
        for statement in (migration.CONTACTS, migration.HOMELESS, migration.TAGS, migration.FLOWS):
            await tx.execute(text(statement))
        check = "state <> 'READY' OR tag IS NOT NULL"
        await tx.execute(text(f"ALTER TABLE dispatcher.jobs ADD CONSTRAINT ck_jobs_ready_is_tagged CHECK ({check})"))
    assert await tags_of(rig, many) == [0, 1, 2, 3, 4]
    assert await tags_of(rig, few) == [0, 0.5, 1]
    flows = await rig.rows("SELECT tenant_id, finish FROM dispatcher.flows")
    assert {(row.tenant_id, row.finish) for row in flows} == {(many, 5.0), (few, 1.5)}
    job = await rig.job(homeless.ref)
    assert (job.state, job.parked, job.tag) == ("SCHEDULED", True, None)
    rig.now.value += timedelta(seconds=1)
    assert len((await rig.claim()).attempts) == 8


async def tags_of(rig: Rig, tenant: UUID) -> list[float]:
    """In the order in which they are due."""
    rows = await rig.rows("SELECT tag FROM dispatcher.jobs WHERE tenant_id = :id ORDER BY due_at", id=tenant)
    return [row.tag for row in rows]
