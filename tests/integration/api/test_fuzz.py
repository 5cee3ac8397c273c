"""Generated requests, good and bad, to every documented route: no 5xx, and nothing that is not documented."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.integration.api.conftest import environment

from chassis.testing.template_database import TemplateDatabase
from chassis.testing.virtual_host import VirtualHost, virtual_host
from evolution_simulator.testing import SimulatorProcess
from local_stack.backing import Backing
from local_stack.ports import free_port
from local_stack.services import ServiceProcess

from .answering import answering
from .notifying import notifying
from .repairing import repairing
from .running import OPERATOR_KEY, RunningApi
from .walk import CLIENT, Walk

SEED = 20_300_101
EXAMPLES_MAX = 6
TIMEOUT_SECONDS = 300
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
LEFT_OUT = ("/v1/api-keys/regenerate",)
"""It would take away the key that everything else is asked with; the walk visits it."""
REAL_IDS = ("tenant", "project", "package", "profile", "opt_in", "number", "template", "webhook")
"""Of things a fuzzed request may change but not end."""


@pytest.fixture(scope="module")
async def fuzzed(
    backing: Backing,
    template_database: TemplateDatabase,
    gateway: SimulatorProcess,
    running_api: RunningApi,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Walk]:
    """A system of its own, because operators' routes change what is the whole platform's."""
    folder = tmp_path_factory.mktemp("fuzz")
    async with AsyncExitStack() as stack:
        database = await template_database.copy()
        stack.push_async_callback(template_database.discard, database)
        vhost: VirtualHost = stack.enter_context(virtual_host(backing.rabbitmq))
        port = free_port()
        process = ServiceProcess(
            name="api",
            argv=[sys.executable, "-m", "api"],
            env=environment(database_url=database.url("api"), broker_url=vhost.url, gateway_url=gateway.url, port=port),
            log_path=folder / "api.log",
            ready_url=f"http://127.0.0.1:{port}/ready",
            instance=backing.instance,
        )
        stack.push_async_callback(asyncio.to_thread, process.stop)
        await asyncio.to_thread(process.start)
        await stack.enter_async_context(notifying(backing, database, vhost, folder))
        await stack.enter_async_context(answering(database.url("dispatcher"), vhost.url))
        await stack.enter_async_context(repairing(database.url("reconciler"), vhost.url))
        client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False)
        await stack.enter_async_context(client)
        walk = Walk(replace(running_api, client=client))
        await walk.api.number(platformDefault=True, displayName="Pilot", phone="+5511900000000")
        await walk.to_clients()
        await walk.go(*CLIENT)
        yield walk


def configuration(ids: dict[str, str]) -> str:
    """Paths lead to real things, except where that would be their end."""
    lines = ["[parameters]"]
    lines += [f'"path.{name}_id" = "{ids[name]}"' for name in REAL_IDS]
    return "\n".join([*lines, ""])


async def fuzz(walk: Walk, *arguments: str, folder: Path, phases: str, settings: str = "") -> str:
    """What the run prints; it must find nothing."""
    (folder / "schemathesis.toml").write_text(settings)
    excluded = [part for path in LEFT_OUT for part in ("--exclude-path", path)]
    base_url = str(walk.api.client.base_url)
    command = [
        *(str(Path(sys.executable).with_name("st")), "--config-file", "schemathesis.toml", "run"),
        *(f"{base_url}/openapi.json", "--checks", ",".join(CHECKS), *excluded, *arguments),
        *("--header", f"x-api-key:{walk.keys['key']}", "--header", f"x-operator-key:{OPERATOR_KEY}"),
        *("--seed", str(SEED), "--max-examples", str(EXAMPLES_MAX), "--workers", "1", "--no-color"),
        *("--generation-with-security-parameters", "false", "--generation-database", "none"),
        *("--phases", phases, "--continue-on-failure", "--no-shrink", "--warnings", "off"),
    ]
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    return done.stdout


async def test_requests_about_nothing_in_particular(fuzzed: Walk, tmp_path: Path) -> None:
    assert "Tested: 113" in await fuzz(fuzzed, folder=tmp_path, phases="examples,fuzzing")


async def test_requests_about_what_is_there(fuzzed: Walk, tmp_path: Path) -> None:
    settings = configuration(fuzzed.ids)
    every = "examples,coverage,fuzzing"
    await fuzz(fuzzed, "--exclude-method", "DELETE", folder=tmp_path, phases=every, settings=settings)
