"""A relay process to be killed: `python -m tests.bench.crash_child own|peer DATABASE_URL BROKER_URL`."""

import asyncio
import sys

from tests.bench import own_outbox as own
from tests.bench import peer_outbox as peer
from tests.bench.running import run

LEASE_SECONDS = 8.0
TUNING = peer.PeerTuning(max_workers=2, lease_ttl_seconds=LEASE_SECONDS)


async def _relay(which: str, database_url: str, broker_url: str) -> None:
    opened = (
        own.own_outbox(database_url, broker_url)
        if which == "own"
        else peer.peer_outbox(database_url, broker_url, TUNING)
    )
    async with opened:
        await asyncio.Event().wait()


if __name__ == "__main__":
    run(_relay(*sys.argv[1:]))
