"""A new run removes what a crashed one left and nothing else."""

import subprocess
import sys
from pathlib import Path

from local_stack.identity import Identity, identify
from local_stack.instances import Instance, create_instance
from local_stack.leftovers import clean_leftovers


def crashed(instance: Instance) -> None:
    """What the kernel does with a lock whose owner died."""
    instance.lock.close()


def sleeping_group() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)


def test_children_and_folders_of_a_crashed_run_go(tmp_path: Path, said: list[str]) -> None:
    instance = create_instance(tmp_path, "postgres")
    outside = instance.outside_folder("test")
    instance.remember_workspace("pilot_test_0a1b2c3d")
    with sleeping_group() as child:
        identity = identify(child.pid)
        assert identity is not None
        instance.record("postgres", identity)
        crashed(instance)
        assert clean_leftovers(tmp_path, said.append) == ["pilot_test_0a1b2c3d"]
        assert child.wait(10) == -9
    assert not instance.path.exists()
    assert not outside.exists()
    assert said == [f"removed what an earlier run left: {instance.path.name}"]


def test_a_stranger_with_the_recorded_pid_lives_on(tmp_path: Path, said: list[str]) -> None:
    instance = create_instance(tmp_path, "rabbitmq")
    with sleeping_group() as stranger:
        instance.record("rabbitmq", Identity(pid=stranger.pid, started="12345"))
        crashed(instance)
        clean_leftovers(tmp_path, said.append)
        assert not instance.path.exists()
        assert stranger.poll() is None
        stranger.kill()


def test_an_instance_with_a_living_owner_is_left_alone(tmp_path: Path, said: list[str]) -> None:
    instance = create_instance(tmp_path, "rabbitmq")
    clean_leftovers(tmp_path, said.append)
    assert instance.path.exists()
    assert said == []
    instance.remove()


def test_only_the_newest_logs_are_kept(tmp_path: Path, said: list[str]) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(70):
        (logs / f"{number}.log").touch()
    clean_leftovers(tmp_path, said.append)
    assert len(list(logs.iterdir())) == 60
