"""Installs the locked packages and the workspace members into .venv; runs before anything is installed."""

import fcntl
import hashlib
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
PIP = (str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "-qq", "--no-input")
STEP_SECONDS = 1200


def main() -> int:
    (ROOT / ".run").mkdir(exist_ok=True)
    with (ROOT / ".run" / "setup.lock").open("w", encoding="ascii") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        stamp = ENVIRONMENT / "pilot-setup.sha256"
        if stamp.is_file() and stamp.read_text(encoding="ascii") == fingerprint():
            say("up to date")
            return 0
        try:
            install()
        except subprocess.SubprocessError as error:
            say(f"failed: {error}")
            return 1
        stamp.write_text(fingerprint(), encoding="ascii")
    return 0


def fingerprint() -> str:
    """Changes with the lock, a member's pyproject, the place of the checkout or the environment's Python."""
    digest = hashlib.sha256(f"{ROOT} {environment_version()}".encode())
    for file in (LOCK, *(member / "pyproject.toml" for member in members())):
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def members() -> list[Path]:
    groups = ("libs", "services", "tools")
    return sorted(file.parent for group in groups for file in ROOT.glob(f"{group}/*/pyproject.toml"))


def install() -> None:
    if not environment_version():
        step("environment", [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)])
    step("locked packages", [*PIP, "install", "--require-hashes", "-r", str(LOCK)])
    editable = [argument for member in members() for argument in ("-e", str(member))]
    step(
        f"{len(members())} workspace members",
        [*PIP, "install", "--no-deps", "--no-build-isolation", "--no-index", *editable],
    )


def environment_version() -> str:
    """The version of the Python in .venv; empty when there is none that works and is new enough."""
    question = "import sys, pip; print(sys.version) if sys.version_info >= (3, 11) else None"
    try:
        answer = subprocess.run([PIP[0], "-c", question], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()


def step(name: str, argv: list[str]) -> None:
    started = time.monotonic()
    subprocess.run(argv, check=True, timeout=STEP_SECONDS, cwd=ROOT)
    say(f"{name} ({time.monotonic() - started:.1f} s)")


def say(line: str) -> None:
    print(f"setup: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
