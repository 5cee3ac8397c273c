"""The ground of the claim bench: the dispatcher's schema in a workspace, filled with as much as one asks for."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg

import dispatcher
from chassis.database import Database
from chassis.migrations import Migrations
from chassis.provisioning import provision
from contracts.values import Pace, PacingPolicy
from dispatcher.domain.fairness import RANKS, SLOTS, STREAMS
from dispatcher.domain.rules import Rules
from dispatcher.tables import metadata, outbox
from dispatcher.usecases.claim_due import ClaimDue, Claimed
from local_stack.workspace import Workspace

SCHEMA, PASSWORD = "dispatcher", "bench"
LOAD_SECONDS_MAX = 120.0
QUICK = Pace(min_ms=1, max_ms=1)
POLICY = PacingPolicy(otp=QUICK, utility=QUICK, marketing=QUICK, max_in_flight=1)

LANES = f"""
    INSERT INTO dispatcher.lanes (instance, number_id, version, gateway, sealed_access, pacing, max_in_flight, paused,
           gap_at, hour_at, day_at, passed, cold_at, floors, virtual, wake_at, state, state_observed_at)
    SELECT 'lane-' || n, gen_random_uuid(), 1, 'evolution', 'sealed', $2::jsonb, 1, false, idle, idle, idle,
           ARRAY[0, 0, 0], now(), array_fill(0.0::float8, ARRAY[{STREAMS}]), array_fill(0.0::float8, ARRAY[{RANKS}]),
           now(), 'OPEN', now()
      FROM generate_series(0, $1::integer - 1) AS n, array_fill(now() - interval '1 minute', ARRAY[{SLOTS}]) AS idle
"""

JOBS = """
    INSERT INTO dispatcher.jobs (message_id, round, tenant_id, project_id, number_id, instance, environment, category,
           correlation_id, tenant_weight, priority, urgent, state, due_at, deliver_until, sealed, recipient_hash,
           text_hash, cold, tag)
    SELECT CAST('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid), 1, tenant, tenant, tenant,
           'lane-' || n % $2::integer, CASE WHEN turn % 20 = 0 THEN 'TEST' ELSE 'LIVE' END,
           (ARRAY['OTP', 'UTILITY', 'MARKETING'])[priority + 1], 'c', 1, priority, turn % 7 = 0, 'READY', now(),
           now() + interval '1 day', 'sealed', md5(CAST(n AS text)), md5(CAST(n AS text)), turn % 2 = 0,
           turn / $3::integer
      FROM generate_series(0, $1::integer - 1) AS n
     CROSS JOIN LATERAL (SELECT n / $2::integer AS turn) AS lane
     CROSS JOIN LATERAL (
           SELECT CAST('00000000-0000-7000-9000-' || lpad(to_hex(turn % $3::integer), 12, '0') AS uuid) AS tenant,
                  (ARRAY[0, 1, 1, 1, 2, 2, 2, 2, 2, 2])[turn % 10 + 1] AS priority) AS job
"""

_FREE = """
    UPDATE dispatcher.lanes SET in_flight = 0, wake_at = now() WHERE in_flight > 0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimGround:
    """Where is claimed, with a connection that fills it."""

    admin: "asyncpg.Connection[Any]"
    claim_due: ClaimDue

    async def fill(self, *, jobs: int, lanes: int, tenants: int) -> None:
        """So many READY jobs, evenly over lanes and tenants; every lane deserves a look."""
        await self.empty()
        await self.admin.execute(LANES, lanes, json.dumps(POLICY.model_dump(mode="json")))
        await self.admin.execute(JOBS, jobs, lanes, tenants, timeout=LOAD_SECONDS_MAX)
        await self.admin.execute("VACUUM (ANALYZE) dispatcher.jobs, dispatcher.lanes", timeout=LOAD_SECONDS_MAX)

    async def empty(self) -> None:
        """Nothing waits and there is no lane."""
        names = ", ".join(str(table) for table in metadata.sorted_tables)
        await self.admin.execute(f"TRUNCATE {names}")

    async def claim(self, capacity: int) -> Claimed:
        """One pass, committed."""
        return await self.claim_due(capacity)

    async def settle(self) -> None:
        """As if the calls had ended: their lanes have room again."""
        await self.admin.execute(_FREE)


@contextlib.asynccontextmanager
async def open_claim_ground(workspace: Workspace) -> AsyncIterator[ClaimGround]:
    """The workspace takes all of it along."""
    url = workspace.database_url(SCHEMA, PASSWORD)
    await provision(workspace.database_admin_url, database_url=url, schema=SCHEMA)
    await Migrations(metadata=metadata, package=Path(str(dispatcher.__file__)).parent).upgrade(url)
    database = Database(url, outbox=outbox, pool_size=2, name="bench")
    admin = await asyncpg.connect(workspace.database_admin_url)
    try:
        rules = Rules(lease=timedelta(minutes=10))
        yield ClaimGround(admin=admin, claim_due=ClaimDue(database=database, rules=rules, dice=lambda: 0.5))
    finally:
        await admin.close()
        await database.stop()
