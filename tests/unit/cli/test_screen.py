"""What is shown: nothing that moves a cursor, ids that stay whole, lines that `cut` understands."""

import io

import pytest
from rich.console import Console

from pilot_cli.screen import Screen, table_of, value_of
from pilot_cli.text import lines, plain

COLUMNS = (("id", "id"), ("lane", "lane.state"), ("sum", lambda row: row["n"] + 1))
ROW = {"id": "01a22e80-84dc-7efb-9452-5f81cfc53c64", "lane": {"state": "OPEN"}, "n": 1}


def test_words_from_elsewhere_cannot_steer_a_terminal() -> None:
    assert plain("a\x1b[2Jb\tc\nd\u202ee") == "a [2Jb c d e"
    assert lines("a\nb\x07") == "a\nb "


@pytest.mark.parametrize(("value", "shown"), [(None, ""), (True, "yes"), (False, "no"), (0, "0"), (["a", 1], "a, 1")])
def test_values_are_written_the_same_everywhere(value: object, shown: str) -> None:
    assert plain(value) == shown


def test_a_column_reads_members_of_members() -> None:
    assert [value_of(ROW, where) for _, where in COLUMNS] == [ROW["id"], "OPEN", 2]
    assert value_of({"lane": None}, "lane.state") is None


def test_a_pipe_gets_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(out=Console(file=io.StringIO()))
    screen.rows([ROW, {**ROW, "id": "x\ty"}], COLUMNS)
    assert capsys.readouterr().out == f"id\tlane\tsum\n{ROW['id']}\tOPEN\t2\nx y\tOPEN\t2\n"


@pytest.mark.parametrize("width", [20, 200])
def test_a_table_loses_nothing_however_narrow(width: int) -> None:
    file = io.StringIO()
    Console(file=file, width=width, no_color=True).print(table_of([ROW], COLUMNS))
    shown = "".join(line[:8] if width < 40 else line for line in file.getvalue().splitlines())
    assert str(ROW["id"])[:8] in shown
    assert "…" not in file.getvalue()


def test_markup_in_a_name_is_only_a_name() -> None:
    file = io.StringIO()
    screen = Screen(out=Console(file=file, soft_wrap=True, no_color=True))
    screen.record({"name": "[bold]x[/bold]"}, (("name", "name"), ("gone", "nothing")))
    assert file.getvalue() == "name  [bold]x[/bold]\n"
