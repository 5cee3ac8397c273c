"""The import rules of pyproject.toml hold, and deliberate violations of each kind are caught."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = [*sorted(ROOT.glob("libs/*/src")), *sorted(ROOT.glob("services/*/src")), ROOT / "tools" / "cli" / "src"]
VIOLATIONS = {
    "services are strangers": ("notifier/store.py", "import reconciler.domain", "1. Services are strangers"),
    "a library below a service": ("chassis/loop.py", "import dispatcher.domain", "1. Services are strangers"),
    "a module without a place": ("reconciler/leftovers.py", "", "2. Inside a service"),
    "a door that reads the store": ("reconciler/domain.py", "import reconciler.store", "2. Inside a service"),
    "a resource looking up": ("api/accounts/store.py", "import api.messages.domain", "3. The api is divided"),
    "settings read inside": ("dispatcher/usecases/planted.py", "import dispatcher.settings", "5. Only app"),
    "an impure domain": ("dispatcher/domain/planted.py", "import asyncio", "6. The domain is pure"),
    "SQL in a use case": ("api/access/usecases.py", "import sqlalchemy", "7. SQL lives in"),
    "a framework inside": ("api/numbers/store.py", "import fastapi", "8. Frameworks stay"),
    "the command behind the API's back": ("pilot_cli/client.py", "import contracts.ids", "11. The operators' command"),
    "a renderer that calls": ("pilot_cli/screen.py", "import pilot_cli.desk", "12. Inside the command"),
    "contracts looking out": ("contracts/status.py", "import httpx", "9. Contracts need"),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder / place.name) for place in [Path("src")])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """All packages side by side in one `src`, with the rules beside it."""
    for place in PLACES:
        shutil.copytree(place, tmp_path / "src", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_rules_hold(copied: Path) -> None:
    result = lint(copied)
    assert result.returncode == 0, result.stdout[-4_000:]
    assert " 0 broken" in result.stdout


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_violations_are_caught(violation: str, copied: Path) -> None:
    name, line, rule = VIOLATIONS[violation]
    path = copied / "src" / name
    if not path.parent.is_dir():
        path = path.parent.parent / f"{path.parent.name}.py"
    with path.open("a") as file:
        file.write(f"\n{line}  # noqa\n")
    result = lint(copied)
    assert result.returncode != 0
    assert rule in result.stdout, result.stdout[-2_000:]
