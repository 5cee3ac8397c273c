"""One Dockerfile makes every image: from hashed locks, without root, with the migrations of its service inside."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from .workspace_members import ROOT, SERVICES, SIMULATOR, SIMULATOR_PACKAGE

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [line for line in re.sub(r"\\\n\s*", "", DOCKERFILE).splitlines() if line and not line.startswith("#")]
FINAL = INSTRUCTIONS[max(index for index, line in enumerate(INSTRUCTIONS) if line.startswith("FROM ")) :]
WHEEL_SECONDS = 60


def of(instruction: str, lines: list[str]) -> list[str]:
    return [line.removeprefix(f"{instruction} ") for line in lines if line.startswith(f"{instruction} ")]


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text()
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", text, flags=re.MULTILINE))


def test_it_names_every_service() -> None:
    comment = next(line for line in DOCKERFILE.splitlines() if line.startswith("# SERVICE is"))
    named = set(re.findall(r"[a-z_]+", comment.partition(":")[2])) - {"or"}
    assert named == {*SERVICES.values(), SIMULATOR_PACKAGE}


def test_the_base_is_pinned_by_tag() -> None:
    assert of("ARG", INSTRUCTIONS)[0] == "PYTHON_IMAGE=python:3.11-slim"
    assert {line.split()[0] for line in of("FROM", INSTRUCTIONS)} <= {"${PYTHON_IMAGE}", "dependencies"}


def test_only_hashed_packages_are_installed() -> None:
    installs = [part for line in of("RUN", INSTRUCTIONS) for part in line.split("&&") if " install " in part]
    assert len(installs) == 3
    assert all("--require-hashes" in part or "--no-index" in part for part in installs)


def test_the_image_runs_without_root_and_says_how_it_is() -> None:
    assert of("USER", FINAL) == ["10001:10001"]
    assert of("STOPSIGNAL", FINAL) == ["SIGTERM"]
    assert of("EXPOSE", FINAL) == ["8000"]
    assert of("ENTRYPOINT", FINAL) == ['["python", "-m"]']
    assert of("RUN", FINAL) == []
    [check] = of("HEALTHCHECK", FINAL)
    assert 'CMD ["python", "-c"' in check
    assert "HEALTH_PATH=/live" in of("ARG", FINAL)
    [environment] = of("ENV", FINAL)
    assert "PYTHONDONTWRITEBYTECODE=1" in environment


def test_no_address_is_left_in_the_image() -> None:
    assert not re.search(r"https?://(?!127\.0\.0\.1:')", DOCKERFILE)


def test_the_build_sees_what_it_copies_and_no_more() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {part for line in of("COPY", INSTRUCTIONS) if "--from" not in line for part in line.split()[:-1]}
    assert {path.partition("/")[0] for path in allowed} == copied
    assert all((ROOT / path).exists() for path in allowed)


@pytest.mark.parametrize("lock", ["requirements-runtime.lock", "requirements-build.lock"])
def test_the_locks_of_the_image_agree_with_the_lock_of_the_workspace(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert pins(lock).items() <= pins("requirements.lock").items()
    assert len(re.findall(r"^[a-z0-9.-]+(?:\[[^\]]*\])?==", text, flags=re.MULTILINE)) == len(pins(lock)) > 0
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=[a-z0-9])", text.strip()))
    assert "://" not in text


def test_every_dependency_of_a_service_is_locked() -> None:
    members = [*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml")]
    members.append(ROOT / "tools" / SIMULATOR / "pyproject.toml")
    projects = [tomllib.loads(member.read_text())["project"] for member in members]
    own = {project["name"] for project in projects}
    needed = {re.split(r"[\[<>=!~; ]", entry)[0] for project in projects for entry in project["dependencies"]}
    assert needed - own <= pins("requirements-runtime.lock").keys()


@pytest.mark.parametrize("name", SERVICES)
def test_a_wheel_holds_its_migrations(name: str, tmp_path: Path) -> None:
    folder = ROOT / "services" / name
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=WHEEL_SECONDS, check=False)
    assert built.returncode == 0, built.stderr
    [wheel] = tmp_path.glob("*.whl")
    revisions = [file.name for file in (folder / "migrations" / "versions").glob("*.py")]
    assert revisions
    with zipfile.ZipFile(wheel) as archive:
        assert {f"{SERVICES[name]}/migrations/versions/{revision}" for revision in revisions} <= {*archive.namelist()}
