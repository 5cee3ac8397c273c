"""Format, style and types, as tests: one command says whether everything is well."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PACKAGES = sorted(
    str(path.relative_to(ROOT)) for place in ("libs", "services", "tools") for path in ROOT.glob(f"{place}/*/src")
)


def run(*command: str) -> None:
    result = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, (result.stdout + result.stderr)[-4_000:]


def test_format() -> None:
    run("ruff", "format", "--check", "--quiet", ".")


def test_style() -> None:
    run("ruff", "check", "--quiet", ".")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_types() -> None:
    run("mypy", *PACKAGES, "tests")
