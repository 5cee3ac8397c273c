"""Every row of the official SDK's acceptance list has its test, named by its number."""

import ast
import re
from pathlib import Path

ROWS = range(1, 26)
NAME = re.compile(r"test_rows?_(\d+)(?:_and_(\d+))?_")
PARTLY = {6: "carousel, flow, groups and newsletters are refused with MODE_NOT_SUPPORTED", 25: "newsletters"}
"""What of a row is out of scope and refused with a code; the test of the row asserts the refusal."""


def rows_with_a_test() -> set[int]:
    found: set[int] = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and (match := NAME.match(node.name)):
                found |= {int(number) for number in match.groups() if number is not None}
    return found


def test_every_row_has_a_test() -> None:
    assert rows_with_a_test() == set(ROWS)
    assert set(PARTLY) <= set(ROWS)
