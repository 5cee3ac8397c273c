"""The notifier beside the running api, which asks it about webhooks."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from local_stack.backing import Backing
from local_stack.ports import free_port
from local_stack.services import ServiceProcess
from local_stack.settings import inherited_environment

from .running import SEAL_KEYS


@asynccontextmanager
async def notifying(
    backing: Backing, database: TestDatabase, vhost: VirtualHost, folder: Path
) -> AsyncIterator[ServiceProcess]:
    """A process of its own, until the end of the block."""
    port = free_port()
    process = ServiceProcess(
        name="notifier",
        argv=[sys.executable, "-m", "notifier"],
        env=inherited_environment()
        | {
            "DATABASE_URL": database.url("notifier"),
            "BROKER_URL": vhost.url,
            "HTTP_PORT": str(port),
            "SEAL_KEYS": SEAL_KEYS,
            "ALLOW_PRIVATE_ENDPOINTS": "true",
        },
        log_path=folder / "notifier.log",
        ready_url=f"http://127.0.0.1:{port}/ready",
        instance=backing.instance,
    )
    try:
        await asyncio.to_thread(process.start)
        yield process
    finally:
        await asyncio.to_thread(process.stop)
