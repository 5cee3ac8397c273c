"""Runs the tests that must notice a mutation, and tells noticing from merely not working."""

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.mutations.mutable_tree import MutableTree

TESTS_FAILED = 1
PLUGINS = ("no:cacheprovider", "no:schemathesis", "tests.mutations.warm_template")
"""Schemathesis takes a second to load, and nothing selected needs it."""
TIMEOUT_SECONDS = 300.0
"""For the tests of one mutation."""
STOP_SECONDS = 60.0

_SUMMARY = re.compile(r"^(FAILED|ERROR) (\S+::.+?|\S+)(?: - (.*))?$", re.MULTILINE)
_NOT_WORKING = (
    "NameError",
    "UnboundLocalError",
    "SyntaxError",
    "IndentationError",
    "ImportError",
    "ModuleNotFoundError",
)
"""What an edit that is no sensible program dies of; no rule was missed then."""


class Verdict(StrEnum):
    """What became of a mutation; only the first one is good."""

    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`detail` is the test that failed, or why there is nothing to learn from the run."""

    verdict: Verdict
    detail: str


class Tests:
    """Runs tests of a tree, each time from scratch but for the libraries, which `warm_python` has loaded once."""

    __test__ = False

    def __init__(self, tree: MutableTree, environment: Mapping[str, str]) -> None:
        self._tree, self._environment = tree, dict(environment)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [str(self._tree.python), "-m", "tests.mutations.warm_python"],
            cwd=self._tree.root,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._heard()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def run(
        self, selection: Sequence[str], *, timeout_seconds: float = TIMEOUT_SECONDS, to_the_end: bool = False
    ) -> tuple[int | None, str]:
        """The exit code of pytest and what it printed; None if it had to be ended. The first failure ends it too."""
        plugins = [part for plugin in PLUGINS for part in ("-p", plugin)]
        with tempfile.NamedTemporaryFile(suffix=".log") as output:
            asked = {
                "arguments": [*(() if to_the_end else ("-x",)), "-q", "-ra", *plugins, *selection],
                "output": output.name,
                "timeout_seconds": timeout_seconds,
            }
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            code = self._heard()
            return (code if isinstance(code, int) else None), Path(output.name).read_text(errors="replace")

    def _heard(self) -> object:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the interpreter that runs the tests has ended")
        return json.loads(line)


def failures(output: str) -> list[str]:
    """The tests that failed or could not run, by their node ids."""
    return [match[2] for match in _SUMMARY.finditer(output)]


def judge(code: int | None, output: str) -> Outcome:
    """A test that failed has noticed; a test that could not run, or died of nonsense, has not."""
    if code is None:
        return Outcome(verdict=Verdict.BROKEN, detail="the tests did not end in time")
    if code == 0:
        return Outcome(verdict=Verdict.SURVIVED, detail="every test passed")
    found = [match.groups() for match in _SUMMARY.finditer(output)]
    failed = [(test, reason or "") for kind, test, reason in found if kind == "FAILED" and "::" in test]
    if code == TESTS_FAILED and failed:
        test, reason = failed[0]
        if not reason.startswith(_NOT_WORKING):
            return Outcome(verdict=Verdict.CAUGHT, detail=test)
        return Outcome(verdict=Verdict.BROKEN, detail=f"{test}: {reason}")
    lines = [f"{test}: {reason or ''}" for kind, test, reason in found if kind == "ERROR"]
    last = next((line for line in reversed(output.splitlines()) if line.strip()), "nothing was printed")
    return Outcome(verdict=Verdict.BROKEN, detail=f"pytest ended with {code}: {(lines or [last])[0]}"[:300])
