"""A system on a broker of its own, which a test may restart, and dispatchers alone, which a test may stop."""

import secrets
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.e2e.client import Client
from tests.e2e.conftest import FRUGAL
from tests.integration.dispatcher.conftest import build, rig, schema_url
from tests.integration.dispatcher.process import World, open_world
from tests.integration.dispatcher.rig import Rig

from chassis.testing.virtual_host import VirtualHost
from local_stack.backing import Backing, open_backing
from local_stack.environment import Service
from local_stack.operator_api import Operator
from local_stack.system import System, open_system
from local_stack.workspace import open_workspace

__all__ = ["build", "rig", "schema_url"]

RUN_DIR = Path(__file__).parents[2] / ".run"
QUICK_RECOVERY = FRUGAL | {
    Service.DISPATCHER: {
        "POOL_SIZE": "6",
        "LEASE_SECONDS": "4",
        "ABSENCE_BELIEVED_AFTER_SECONDS": "4",
        "RESOLVE_WITHIN_SECONDS": "20",
        "GATEWAY_READ_TIMEOUT_SECONDS": "2",
    },
}
PACING = {name: {"min_ms": 30, "max_ms": 60} for name in ("otp", "utility", "marketing")} | {"max_in_flight": 4}


@pytest.fixture(scope="session")
def private_backing() -> Iterator[Backing]:
    with open_backing(RUN_DIR, private_rabbitmq=True) as backing:
        yield backing


@pytest.fixture(scope="session")
def system(private_backing: Backing) -> Iterator[System]:
    with (
        open_workspace(private_backing, "reliability") as workspace,
        open_system(workspace, RUN_DIR, overrides=QUICK_RECOVERY) as running,
    ):
        yield running


@pytest.fixture
def client(system: System) -> Iterator[Client]:
    """A customer with a number of its own, so that tests share a system but neither a lane nor a script."""
    with Operator(system) as operator:
        account = operator.open_account(instance=f"number-{secrets.token_hex(4)}", templates={}, pacing=PACING)
    with Client(system, account) as opened:
        yield opened


@pytest.fixture
async def world(rig: Rig, vhost: VirtualHost, tmp_path: Path) -> AsyncIterator[World]:
    """A dispatcher process beside a gateway; the rig looks into its database. Its clock is the real one."""
    rig.now.value = datetime.now(UTC)
    async with open_world(rig.url, vhost.url, tmp_path) as opened:
        yield opened
