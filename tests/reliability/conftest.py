"""A system on a broker of its own, which a test may restart without disturbing anybody."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_stack.backing import Backing, open_backing

RUN_DIR = Path(__file__).parents[2] / ".run"


@pytest.fixture(scope="session")
def private_backing() -> Iterator[Backing]:
    with open_backing(RUN_DIR, private_rabbitmq=True) as backing:
        yield backing
