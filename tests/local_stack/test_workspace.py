"""A workspace is a database and a virtual host of one's own, and nothing of it stays."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from local_stack.backing import open_backing
from local_stack.databases import list_roles, look_at
from local_stack.vhosts import broker_version
from local_stack.workspace import open_workspace


class Planned(Exception):
    """Raised on purpose inside a workspace."""


def test_a_workspace_is_made_and_dropped_even_after_an_error(
    run_dir: Path, said: list[str], ask: Callable[[str, str], object]
) -> None:
    with open_backing(run_dir, say=said.append) as backing:
        with contextlib.suppress(Planned), open_workspace(backing, "test") as workspace:
            assert workspace.name.startswith("pilot_test_")
            ask(workspace.database_admin_url, f"CREATE ROLE {workspace.role('api')} LOGIN PASSWORD 'pass/word'")
            assert look_at(workspace.database_url("api", "pass/word")).may_create_databases is False
            assert broker_version(workspace.broker_url) >= (3, 10)
            raise Planned
        with pytest.raises(asyncpg.InvalidCatalogNameError):
            look_at(workspace.database_admin_url)
        assert list_roles(backing.postgres_admin_url, workspace.name) == []
