"""Children stop when asked, die when they must and never outlive the run that started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local_stack.identity import Identity, identify
from local_stack.processes import Child, Command, end_leftover
from local_stack.settings import inherited_environment
from local_stack.waiting import DidNotHappen, wait_until

OBEDIENT = "import time; print('up', flush=True); time.sleep(60)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
PARENT = """
import sys, time
from pathlib import Path
from local_stack.processes import Child, Command
where = {"PATH": "/usr/bin:/bin"}
child = Child(Command(name="child", argv=["sleep", "60"], environment=where, log_path=Path(sys.argv[1])))
child.start()
print(child.pid, flush=True)
time.sleep(60)
"""


def started(tmp_path: Path, program: str) -> Child:
    command = Command(
        name="child",
        argv=[sys.executable, "-c", program],
        environment=inherited_environment(),
        log_path=tmp_path / "child.log",
    )
    child = Child(command)
    child.start()
    wait_until(lambda: "up" in child.log_tail(), what="first line of the child", timeout_seconds=20)
    return child


def test_a_child_that_listens_ends_when_asked(tmp_path: Path) -> None:
    child = started(tmp_path, OBEDIENT)
    assert child.stop(timeout_seconds=10)
    assert child.exit_code() == -signal.SIGTERM


def test_a_deaf_child_is_killed_after_the_bound(tmp_path: Path) -> None:
    child = started(tmp_path, DEAF)
    assert not child.stop(timeout_seconds=0.2)
    assert child.exit_code() == -signal.SIGKILL


def test_a_paused_child_can_be_stopped(tmp_path: Path) -> None:
    child = started(tmp_path, OBEDIENT)
    child.send_signal(signal.SIGSTOP)
    assert child.stop(timeout_seconds=10)


def test_starting_twice_is_refused(tmp_path: Path) -> None:
    child = started(tmp_path, OBEDIENT)
    with pytest.raises(RuntimeError, match="runs already"):
        child.start()
    child.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        child = identify(int(parent.stdout.readline()))
        parent.kill()
    assert child is not None
    wait_until(lambda: not child.is_running(), what="death of the child", timeout_seconds=10)


def test_a_leftover_is_only_killed_if_it_is_the_process_we_started(tmp_path: Path) -> None:
    child = started(tmp_path, OBEDIENT)
    real = identify(child.pid)
    assert real is not None
    end_leftover(Identity(pid=real.pid, started="1"))
    with pytest.raises(DidNotHappen):
        wait_until(lambda: not child.is_running(), what="an end that must not come", timeout_seconds=0.3)
    end_leftover(real)
    wait_until(lambda: not child.is_running(), what="end of the leftover", timeout_seconds=10)


def test_an_identity_survives_its_file_and_a_damaged_file_is_none(tmp_path: Path) -> None:
    mine = identify(os.getpid())
    assert mine is not None
    mine.write(tmp_path / "me.pid")
    assert Identity.read(tmp_path / "me.pid") == mine
    (tmp_path / "me.pid").write_text("garbage")
    assert Identity.read(tmp_path / "me.pid") is None
