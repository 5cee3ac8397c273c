"""Folders and servers of the local stack's own tests, none shared with any other run."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

from local_stack.blocking import run_blocking
from local_stack.rabbitmq_binaries import RabbitMQBinaries, installed_rabbitmq
from local_stack.rabbitmq_packages import unpacked_rabbitmq

Ask = Callable[[str, str], object]


@pytest.fixture(scope="session")
def run_dir() -> Iterator[Path]:
    """A run folder that other accounts can reach, unlike pytest's own temporary folders."""
    folder = Path(tempfile.mkdtemp(prefix="local-stack-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The checkout's own cache of packages, so that they are downloaded once."""
    return Path(__file__).resolve().parents[2] / ".run" / "cache"


@pytest.fixture(scope="session")
def rabbitmq_binaries(cache_dir: Path) -> RabbitMQBinaries:
    return installed_rabbitmq() or unpacked_rabbitmq(cache_dir, lambda _: None)


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Run one statement at an address and return the first value of its answer."""
    return lambda url, statement: run_blocking(_ask(url, statement))


async def _ask(url: str, statement: str) -> object:
    connection = await asyncpg.connect(url, timeout=5)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@pytest.fixture
def said() -> list[str]:
    """What was said to the user; pass `said.append`."""
    return []
