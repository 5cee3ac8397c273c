"""The list of mutations does not rot: every text is where it is said to be, and every test that must fail exists."""

import ast
from pathlib import Path

import pytest
from tests.mutations.catalogue import ROOT, RULES, BadCatalogueError, Mutation, fault_of, load

MUTATIONS = load()
LINES_MAX = 300
API = ROOT / "services" / "api" / "src" / "api"
REFUSING = frozenset({"RefusedError", "_refused", "_invalid", "_together", "_NotOneError"})
"""What is raised to refuse, directly or by a short name of the module's own."""
OUT_OF_REACH = {
    ("services/api/src/api/accounts/usecases.py", "ALREADY_EXISTS"): "a new random id would have to be taken",
    ("services/api/src/api/own_numbers/usecases/create_number.py", "ALREADY_EXISTS"): "the same",
}


def refusals_in(path: Path) -> list[tuple[int, int, str]]:
    """First and last line of every `raise` of a refusal, with the condition it stands under, and what is raised."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        if isinstance(node.exc.func, ast.Name) and node.exc.func.id in REFUSING:
            under = parents[node]
            first = under.lineno if isinstance(under, ast.If | ast.ExceptHandler) else node.lineno
            found.append((first, node.end_lineno or node.lineno, ast.unparse(node)))
    return found


def edited(mutation: Mutation) -> range:
    """The lines that a mutation changes."""
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    first = text.count("\n", 0, text.index(mutation.find)) + 1
    return range(first, first + mutation.find.rstrip("\n").count("\n") + 1)


def test_every_refusal_of_the_api_has_a_mutation() -> None:
    unguarded = []
    for path in sorted(API.rglob("*.py")):
        name = str(path.relative_to(ROOT))
        edits = [edited(mutation) for mutation in MUTATIONS if mutation.file == name]
        for first, last, raised in refusals_in(path):
            known = any(file == name and code in raised for file, code in OUT_OF_REACH)
            if not known and not any(lines.start <= last and first < lines.stop for lines in edits):
                unguarded.append(f"{name}:{last}: {raised}")
    assert unguarded == [], "add a mutation to tests/mutations/rules, and the test that it makes fail"


def test_refusals_are_found_where_they_are(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("if x:\n    y = 1\n    raise RefusedError(A)\nraise _invalid(\n    B)\nraise ValueError(C)\n")
    assert [(first, last) for first, last, _ in refusals_in(planted)] == [(4, 5), (1, 3)]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_applies_and_its_tests_exist(mutation: Mutation) -> None:
    assert fault_of(mutation) is None


@pytest.mark.parametrize("path", sorted(RULES.glob("*.toml")), ids=lambda path: path.name)
def test_a_room_can_be_read_at_a_glance(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) <= LINES_MAX


def test_no_mutation_stands_twice_and_each_changes_something() -> None:
    edits = [(mutation.file, mutation.find, mutation.instead) for mutation in MUTATIONS]
    assert len(set(edits)) == len(edits)
    assert all(mutation.find != mutation.instead for mutation in MUTATIONS)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"find": "nothing of this stands there"}, "0 times"),
        ({"find": "\n"}, "times"),
        ({"instead": "return ("}, "no Python"),
        ({"file": "services/api/src/api/nowhere.py"}, "is gone"),
        ({"killers": ("tests/unit/api/test_nothing.py",)}, "no such test"),
        ({"killers": ("tests/unit/api/test_keys.py::test_nothing",)}, "no such test"),
        ({"killers": ()}, "no test is named"),
    ],
)
def test_what_has_rotted_is_said(changes: dict[str, object], fault: str) -> None:
    sound: dict[str, object] = {
        "room": "keys",
        "rule": "planted",
        "file": "services/api/src/api/messages/domain/acceptance.py",
        "find": "if caller.scope is KeyScope.TENANT:",
        "instead": "if False:",
        "killers": ("tests/unit/api/test_keys.py::test_the_right_secret_is_admitted",),
    }
    assert fault_of(Mutation(**sound)) is None  # type: ignore[arg-type]
    assert fault in (fault_of(Mutation(**(sound | changes))) or "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "[[place]]\nfile = 'x'", "not toml", "[[place]]\nfile = 'x'\n[[place.rule]]\nname = 'y'"]
)
def test_a_file_of_another_form_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "room.toml").write_text(text)
    with pytest.raises(BadCatalogueError, match=r"room\.toml"):
        load(tmp_path)
