"""Runs one relay until it is killed: what a replica is to the others."""

import asyncio
import sys

from tests.integration.chassis.playground import OUTBOX

from chassis.database import Database
from chassis.publisher import Publisher
from chassis.relay import OutboxRelay


async def main(database_url: str, broker_url: str) -> None:
    database = Database(database_url, outbox=OUTBOX, name="relay-process")
    publisher = Publisher(broker_url, source="test", timeout_seconds=60)
    relay = OutboxRelay(database, OUTBOX, publisher, database_url=database_url)
    await relay.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
