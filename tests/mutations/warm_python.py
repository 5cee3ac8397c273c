"""Runs pytest again and again from one interpreter that has loaded everything but our own code: each run is a fork.

It takes a line of JSON per run (`arguments`, `output`, `timeout_seconds`) and answers with pytest's exit code, or null
if the run had to be ended. Loading the libraries costs more than most of the tests that must notice a mutation.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Never

import pytest

LIBRARIES = (
    "alembic.command", "asyncpg", "aio_pika", "cryptography.hazmat.primitives.ciphers.aead", "fastapi",
    "faststream.rabbit", "hypothesis", "hypothesis.strategies", "httpx", "orjson", "prometheus_client", "pydantic",
    "pydantic_settings", "pytest_asyncio.plugin", "pytest_timeout", "sqlalchemy.ext.asyncio", "uvicorn", "yaml",
)  # fmt: skip
OURS = ("api", "chassis", "contracts", "dispatcher", "gateways", "notifier", "reconciler", "status_ingest")
POLL_SECONDS = 0.01
LAST_WARNING_SECONDS = 20.0
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""The plugins were loaded before pytest could rewrite their assertions; they have none that we need to read."""


def main() -> None:
    """Until the other side closes its end."""
    for name in LIBRARIES:
        importlib.import_module(name)
    strange = sorted({name.partition(".")[0] for name in sys.modules} & set(OURS))
    if strange:
        raise SystemExit(f"loaded too early: {', '.join(strange)}")
    signal.signal(signal.SIGTERM, _leave)
    _answer("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        _answer(_run(asked["arguments"], Path(asked["output"]), timeout_seconds=asked["timeout_seconds"]))


def _answer(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _run(arguments: Sequence[str], output: Path, *, timeout_seconds: float) -> int | None:
    pid = os.fork()
    if pid == 0:
        _become_pytest(arguments, output)
    code = None
    try:
        code = _wait(pid, timeout_seconds)
    finally:
        if code is None:
            _end(pid)
    return code


def _end(pid: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        if _wait(pid, LAST_WARNING_SECONDS) is not None:
            return


def _become_pytest(arguments: Sequence[str], output: Path) -> None:
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with output.open("wb") as out, open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        code = int(pytest.main([*QUIET, *arguments]))
        sys.stdout.flush()
    finally:
        os._exit(code)


def _leave(number: int, _: object) -> Never:
    raise SystemExit(128 + number)


def _wait(pid: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
