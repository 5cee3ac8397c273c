"""One running api for all tests of this folder; what they create does not get into each other's way."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import aio_pika
import asyncpg
import httpx
import pytest

from chassis.testing.template_database import TemplateDatabase, TestDatabase
from chassis.testing.virtual_host import VirtualHost, virtual_host
from chassis.testing.wire import Wire
from evolution_simulator.testing import SimulatorProcess
from local_stack.backing import Backing
from local_stack.ports import free_port
from local_stack.services import ServiceProcess
from local_stack.settings import inherited_environment

from .customers import Customer, new_customer
from .documented import must_be_documented
from .notifying import notifying
from .running import GATEWAY_KEY, OPERATOR_KEY, SEAL_KEYS, SEAL_PEPPER, TTL_SECONDS, RunningApi
from .webhook_customer import Sink, opened_sink


def environment(*, database_url: str, broker_url: str, gateway_url: str, port: int) -> dict[str, str]:
    return inherited_environment() | {
        "DATABASE_URL": database_url,
        "BROKER_URL": broker_url,
        "HTTP_PORT": str(port),
        "SEAL_KEYS": SEAL_KEYS,
        "SEAL_PEPPER": SEAL_PEPPER,
        "OPERATOR_KEY": OPERATOR_KEY,
        "GATEWAY_URL": gateway_url,
        "GATEWAY_API_KEY": GATEWAY_KEY,
        "CONFIGURATION_TTL_SECONDS": str(TTL_SECONDS),
        "LOG_LEVEL": "DEBUG",
        "POOL_SIZE": "6",
    }


@pytest.fixture(scope="session")
def vhost(backing: Backing) -> Iterator[VirtualHost]:
    """The running api's virtual host; the services it asks are put beside it."""
    with virtual_host(backing.rabbitmq) as host:
        yield host


@pytest.fixture(scope="session")
async def api_database(template_database: TemplateDatabase) -> AsyncIterator[TestDatabase]:
    """The running api's database."""
    copy = await template_database.copy()
    yield copy
    await template_database.discard(copy)


@pytest.fixture(scope="session")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SimulatorProcess]:
    """Where numbers of clients are created."""
    ledger = tmp_path_factory.mktemp("gateway") / "ledger.jsonl"
    async with SimulatorProcess(ledger, api_key=GATEWAY_KEY) as process:
        yield process


@pytest.fixture(scope="session")
async def running_api(
    backing: Backing,
    api_database: TestDatabase,
    vhost: VirtualHost,
    gateway: SimulatorProcess,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[RunningApi]:
    """Started once, stopped at the end; exit code 0 is part of the test."""
    port, log_path = free_port(), tmp_path_factory.mktemp("api") / "api.log"
    async with AsyncExitStack() as stack:
        database_wire = await stack.enter_async_context(Wire(api_database.url("api"), default_port=5432))
        broker_wire = await stack.enter_async_context(Wire(vhost.url, default_port=5672))
        gateway_wire = await stack.enter_async_context(Wire(gateway.url, default_port=gateway.port))
        process = ServiceProcess(
            name="api",
            argv=[sys.executable, "-m", "api"],
            env=environment(
                database_url=database_wire.url, broker_url=broker_wire.url, gateway_url=gateway_wire.url, port=port
            ),
            log_path=log_path,
            ready_url=f"http://127.0.0.1:{port}/ready",
            instance=backing.instance,
        )
        stack.push_async_callback(asyncio.to_thread, process.stop)
        process.start(wait=False)
        await asyncio.to_thread(process.wait_ready)
        connection = await aio_pika.connect(vhost.url)
        stack.push_async_callback(connection.close)
        looker = await asyncpg.create_pool(api_database.admin_url, min_size=1, max_size=3, timeout=10)
        stack.push_async_callback(looker.close)
        client = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            timeout=20,
            trust_env=False,
            event_hooks={"response": [must_be_documented]},
        )
        await stack.enter_async_context(client)
        yield RunningApi(
            client=client,
            looker=looker,
            channel=await connection.channel(),
            database_wire=database_wire,
            broker_wire=broker_wire,
            gateway=gateway,
            gateway_wire=gateway_wire,
            log_path=log_path,
        )
        await asyncio.to_thread(process.stop)
        assert process.exit_code() == 0, log_path.read_text()[-2_000:]


@pytest.fixture(scope="session")
async def default_number(running_api: RunningApi) -> str:
    """The platform's default number; its instance name."""
    registered = await running_api.number(platformDefault=True, displayName="Pilot", phone="+5511900000000")
    return str(registered["instance"])


@pytest.fixture
async def api(running_api: RunningApi, default_number: str) -> AsyncIterator[RunningApi]:
    """The running api with a default number; wires a test cut are mended after it."""
    yield running_api
    await running_api.mend()


@pytest.fixture
async def customer(api: RunningApi) -> Customer:
    """A tenant of its own, asked for as its client."""
    return await new_customer(api)


@pytest.fixture(scope="module")
async def notifier(
    backing: Backing,
    api_database: TestDatabase,
    running_api: RunningApi,
    vhost: VirtualHost,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[ServiceProcess]:
    """Whom the api asks about webhooks."""
    async with notifying(backing, api_database, vhost, tmp_path_factory.mktemp("notifier")) as process:
        yield process


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Where webhooks are delivered to."""
    with opened_sink() as opened:
        yield opened
