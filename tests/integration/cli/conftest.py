"""The command in this process, against a platform that answers as it is told."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pilot_cli.__main__ import main

from .scripted import Platform, scripted

OPERATOR_KEY = "op_of_the_tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    exit_code: int
    out: str
    err: str

    def json(self) -> Any:
        """Its output as one document."""
        return json.loads(self.out)


Pilot = Callable[..., Ended]


@pytest.fixture
def platform() -> Iterator[Platform]:
    with scripted() as running:
        yield running


@pytest.fixture
def pilot(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Pilot:
    """Runs `pilot` with these arguments; nobody sits at the terminal."""
    for name in ("PILOT_PROFILE", "PILOT_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "PILOT_URL": platform.url,
        "PILOT_OPERATOR_KEY": OPERATOR_KEY,
        "XDG_CONFIG_HOME": str(tmp_path),
        "NO_PROXY": "127.0.0.1",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, stdin: str = "") -> Ended:
        monkeypatch.setattr("sys.argv", ["pilot", *arguments])
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main()
        captured = capsys.readouterr()
        return Ended(exit_code=code, out=captured.out, err=captured.err)

    return run
