"""One simulator process for the whole folder; each test has a receiver, an instance and numbers of its own."""

import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from evolution_simulator.testing import SimulatorProcess, WebhookReceiver

COMPRESSED = {
    "body_bytes_max": 300_000,
    "server_ack_ms": 20,
    "delivery_ack_ms": 40,
    "read_ms": 60,
    "webhook_initial_delay_seconds": 0.05,
    "webhook_delay_seconds_max": 0.1,
    "webhook_attempts_max": 4,
    "webhook_timeout_seconds": 0.5,
}
_serial = itertools.count(1)


@pytest.fixture(scope="session")
async def simulator(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SimulatorProcess]:
    ledger: Path = tmp_path_factory.mktemp("simulator") / "ledger.jsonl"
    async with SimulatorProcess(ledger, instances=["fixed:fixed-token"], settings=COMPRESSED) as process:
        yield process


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with WebhookReceiver() as listening:
        yield listening


@pytest.fixture
async def instance(simulator: SimulatorProcess, receiver: WebhookReceiver) -> AsyncIterator[str]:
    """A fresh open instance whose webhook is the receiver; the scripts are gone afterwards."""
    name = f"shop-{next(_serial)}"
    body = {"instanceName": name, "token": f"{name}-token", "webhook": {"url": receiver.url}}
    created = await simulator.client.post("/instance/create", json=body)
    assert created.status_code == 201
    await receiver.wait_for(1)
    receiver.received.clear()
    yield name
    await simulator.client.delete("/simulator/script")
    await simulator.settled()


@pytest.fixture
def new_number() -> Callable[[], str]:
    return lambda: f"5511{900000000 + next(_serial)}"


@pytest.fixture
def number(new_number: Callable[[], str]) -> str:
    return new_number()
