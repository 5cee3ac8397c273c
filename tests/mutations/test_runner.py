"""The runner tells caught from survived from broken, on a small package planted for that."""

from collections.abc import Iterator

import pytest
from tests.mutations.__main__ import is_wanted, try_all
from tests.mutations.catalogue import ROOT, Mutation
from tests.mutations.mutable_tree import MutableTree, WrongSourcesError
from tests.mutations.trial import Outcome, Tests, Verdict, judge

from local_stack.settings import inherited_environment

SOURCE = '''"""Planted."""


def may_send(age: int, name: str) -> bool:
    if age < 18:
        return False
    if not name:
        return False
    return True
'''
TEST = '''"""Planted."""

import subprocess
import sys
import time

import pytest

from planted.rules import may_send


def test_age() -> None:
    assert may_send(18, "Ana")
    assert not may_send(17, "Ana")


def test_nothing() -> None:
    assert may_send(18, "Ana")


def test_in_a_process_with_an_empty_environment() -> None:
    question = "import planted.rules as rules; print(rules.may_send(17, 'Ana'))"
    answer = subprocess.run([sys.executable, "-c", question], cwd="/", env={}, capture_output=True, text=True)
    assert answer.stdout.strip() == "False"


@pytest.fixture
def late() -> None:
    assert may_send(18, "")  # a fixture that fails teaches nothing


def test_with_a_fixture_that_fails(late: None) -> None: ...


def test_that_fails() -> None:
    assert may_send(17, "Ana")


def test_without_end() -> None:
    while may_send(17, "Ana"):
        time.sleep(0.05)
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> MutableTree:
    """A checkout with one package, one file of tests, and what the interpreter of the runs is made of."""
    checkout = tmp_path_factory.mktemp("checkout")
    package = checkout / "libs" / "planted" / "src" / "planted"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""Planted."""\n')
    (package / "rules.py").write_text(SOURCE)
    (checkout / "tests" / "mutations").mkdir(parents=True)
    (checkout / "tests" / "test_rules.py").write_text(TEST)
    for name in ("warm_python.py", "warm_template.py"):
        (checkout / "tests" / "mutations" / name).write_text((ROOT / "tests" / "mutations" / name).read_text())
    (checkout / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\n')
    for needed in ("chassis", "contracts"):
        (checkout / "libs" / needed).symlink_to(ROOT / "libs" / needed)
    return MutableTree.copy(checkout, tmp_path_factory.mktemp("copies") / "tree")


@pytest.fixture(scope="module")
def tests(tree: MutableTree) -> Iterator[Tests]:
    with Tests(tree, inherited_environment()) as opened:
        yield opened


def mutation(find: str, instead: str, test: str) -> Mutation:
    return Mutation(
        room="planted",
        rule=f"{find!r} guarded by {test}",
        file="libs/planted/src/planted/rules.py",
        find=find,
        instead=instead,
        killers=(f"tests/test_rules.py::{test}",),
    )


AGE = ("if age < 18:", "if False:")
CASES = [
    (mutation(*AGE, "test_age"), Verdict.CAUGHT),
    (mutation(*AGE, "test_in_a_process_with_an_empty_environment"), Verdict.CAUGHT),
    (mutation(*AGE, "test_nothing"), Verdict.SURVIVED),
    (mutation("if not name:", "if False:", "test_age"), Verdict.SURVIVED),
    (mutation("if age < 18:", "if agee < 18:", "test_age"), Verdict.BROKEN),
    (mutation('"""Planted."""', "import nothing_of_this_name", "test_age"), Verdict.BROKEN),
    (mutation(*AGE, "test_with_a_fixture_that_fails"), Verdict.BROKEN),
    (mutation(*AGE, "test_of_no_such_name"), Verdict.BROKEN),
]


@pytest.mark.parametrize(("planted", "verdict"), CASES, ids=[f"{one.rule}-{what}" for one, what in CASES])
def test_each_verdict(tree: MutableTree, tests: Tests, planted: Mutation, verdict: Verdict) -> None:
    before = (tree.root / planted.file).read_text()
    with tree.mutated(planted):
        outcome = judge(*tests.run(planted.killers))
    assert outcome.verdict is verdict, outcome
    assert (tree.root / planted.file).read_text() == before == SOURCE
    assert tests.run(["tests/test_rules.py::test_age"])[0] == 0, "nothing of the mutation is left"


def test_a_run_without_end_is_ended_and_teaches_nothing(tree: MutableTree, tests: Tests) -> None:
    with tree.mutated(mutation(*AGE, "test_without_end")):
        code, output = tests.run(["tests/test_rules.py::test_without_end"], timeout_seconds=3)
    assert judge(code, output).verdict is Verdict.BROKEN
    assert code is None


def test_it_counts_and_says_so_by_its_exit_code(
    tree: MutableTree, tests: Tests, capsys: pytest.CaptureFixture[str]
) -> None:
    caught, survived = CASES[0][0], CASES[2][0]
    assert try_all(tree, tests, [caught]) == 0
    assert try_all(tree, tests, [caught, survived]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("mutations: 1 caught, 1 survived, 0 broken")
    assert any(line.startswith("SURVIVED  planted:") for line in lines)
    fails_anyway = mutation(*AGE, "test_that_fails")
    assert try_all(tree, tests, [fails_anyway, caught]) == 1, "a test that fails without a mutation proves nothing"
    *_, first, second, closing = capsys.readouterr().out.splitlines()
    assert first.startswith("caught ")
    assert "fails without it too: tests/test_rules.py::test_that_fails" in second
    assert closing.startswith("mutations: 1 caught, 0 survived, 1 broken")
    assert try_all(tree, tests, [CASES[-1][0]]) == 2, "tests that are not there run not at all"


def test_only_the_copy_is_imported(tree: MutableTree) -> None:
    tree.check_sources()
    assert "planted" in tree.packages()
    elsewhere = MutableTree(tree.root.parent)
    elsewhere.python = tree.python
    with pytest.raises(WrongSourcesError):
        elsewhere.check_sources()


def test_rules_are_chosen_by_words() -> None:
    planted = CASES[0][0]
    assert is_wanted(planted, "")
    assert is_wanted(planted, "Planted RULES.py test_age")
    assert not is_wanted(planted, "planted limits")


def test_a_summary_is_read_whole() -> None:
    failed = "FAILED tests/a.py::test_b[x - y] - AssertionError: no\n1 failed\n"
    assert judge(1, failed).verdict is Verdict.CAUGHT
    assert judge(1, "ERROR tests/a.py::test_b - RuntimeError\n") == Outcome(
        verdict=Verdict.BROKEN, detail="pytest ended with 1: tests/a.py::test_b: RuntimeError"
    )
    assert judge(2, "ERROR tests/a.py - ImportError: x\n").verdict is Verdict.BROKEN
    assert judge(1, "FAILED tests/a.py::test_b - NameError: x\n").verdict is Verdict.BROKEN
    assert judge(5, "").verdict is Verdict.BROKEN
