"""The list of mutations: every refusal rule with the edit that removes it and the tests that must notice."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RULES = Path(__file__).with_name("rules")


class BadCatalogueError(ValueError):
    """A file of rules does not have the documented form; the sentence says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """`find`, which `file` holds exactly once, becomes `instead`; one of the `killers` must then fail.

    `killers` are files or node ids as pytest takes them. `room` is the file of rules it stands in.
    """

    room: str
    rule: str
    file: str
    find: str
    instead: str
    killers: tuple[str, ...]

    @property
    def name(self) -> str:
        """Unique in the list."""
        return f"{self.room}: {self.rule}"

    def applied(self, text: str) -> str:
        """The mutated text; raises `BadCatalogueError` unless `find` stands in it exactly once."""
        found = text.count(self.find)
        if found != 1:
            raise BadCatalogueError(f"{self.name}: the text stands {found} times in {self.file}, not once")
        return text.replace(self.find, self.instead)


def load(folder: Path = RULES) -> list[Mutation]:
    """All mutations, room by room; raises `BadCatalogueError`."""
    mutations = [mutation for path in sorted(folder.glob("*.toml")) for mutation in _read(path)]
    names = [mutation.name for mutation in mutations]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadCatalogueError(f"two mutations of the same name: {', '.join(sorted(twice))}")
    return mutations


def _read(path: Path) -> list[Mutation]:
    try:
        places: Sequence[Mapping[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["place"]
        return [_mutation(path.stem, place, rule) for place in places for rule in place["rule"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise BadCatalogueError(f"{path.name}: {type(error).__name__}: {error}") from error


def _mutation(room: str, place: Mapping[str, Any], rule: Mapping[str, Any]) -> Mutation:
    unknown = set(rule) - {"name", "find", "instead", "killers"}
    if unknown:
        raise BadCatalogueError(f"{room}: {rule['name']}: unknown {', '.join(sorted(unknown))}")
    killers = rule["killers"] if "killers" in rule else place["killers"]
    return Mutation(
        room=room,
        rule=rule["name"],
        file=place["file"],
        find=rule["find"],
        instead=rule["instead"],
        killers=tuple(killers),
    )


def fault_of(mutation: Mutation, root: Path = ROOT) -> str | None:
    """What has rotted: text that moved, a result that is no Python, a killer that is gone; None if all is well."""
    path = root / mutation.file
    if not path.is_file():
        return f"{mutation.file} is gone"
    try:
        compile(mutation.applied(path.read_text(encoding="utf-8")), mutation.file, "exec")
    except BadCatalogueError as error:
        return str(error)
    except SyntaxError as error:
        return f"{mutation.name}: the mutated file is no Python: {error.msg} in line {error.lineno}"
    if not mutation.killers:
        return f"{mutation.name}: no test is named that must fail"
    gone = [killer for killer in mutation.killers if not _exists(killer, root)]
    return f"{mutation.name}: no such test: {', '.join(gone)}" if gone else None


def _exists(killer: str, root: Path) -> bool:
    name, _, test = killer.partition("::")
    path = root / name
    if not path.is_file():
        return False
    function = test.partition("[")[0]
    text = path.read_text(encoding="utf-8")
    return not test or re.search(rf"^(async )?def {re.escape(function)}\(", text, re.MULTILINE) is not None
