"""What is shown: tables to people, tab-separated lines to pipes, the API's own JSON to scripts; news go to stderr."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from pilot_cli.text import lines, plain

Row = Any
Reader = Callable[[Row], Any]
Column = tuple[str, str | Reader]
"""A title, and where its value is: a member's name, several joined by dots, or a function of the row."""

GOOD = frozenset({"READ", "DELIVERED", "SENT", "OPEN", "active", "SUCCESS", "DELIVERED_OK"})
BAD = frozenset({"FAILED", "CANCELED", "CLOSE", "CANCELLED", "EXHAUSTED", "FAILURE"})


def value_of(row: Row, where: str | Reader) -> Any:
    """What a column shows of a row; None where a member is missing."""
    if not isinstance(where, str):
        return where(row)
    for name in where.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


@dataclass(slots=True)
class Screen:
    """`as_json` prints what the API said and nothing else."""

    as_json: bool = False
    out: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False, soft_wrap=True))

    @property
    def is_live(self) -> bool:
        """Whether somebody watches a terminal."""
        return self.out.is_terminal and not self.as_json

    def json(self, body: Any, *, compact: bool = False) -> None:
        """One document; compact ones are one line each."""
        shape: dict[str, Any] = {} if compact else {"indent": 2}
        sys.stdout.write(json.dumps(body, ensure_ascii=False, **shape) + "\n")
        sys.stdout.flush()

    def rows(self, rows: Iterable[Row], columns: Sequence[Column], *, title: str | None = None) -> None:
        """A table, or lines with tabs below a line of titles."""
        if self.out.is_terminal:
            self.out.print(table_of(rows, columns, title=title))
            return
        write = sys.stdout.write
        write("\t".join(name for name, _ in columns) + "\n")
        for row in rows:
            write("\t".join(plain(value_of(row, where)) for _, where in columns) + "\n")
        sys.stdout.flush()

    def record(self, row: Row, columns: Sequence[Column]) -> None:
        """One thing: a name and a value per line; what is empty is left out."""
        shown = [(name, plain(value_of(row, where))) for name, where in columns]
        width = max((len(name) for name, value in shown if value), default=0)
        for name, value in shown:
            if value:
                self.out.print(Text(f"{name:<{width}}  ").append_text(_coloured(value)))

    def line(self, words: str) -> None:
        """A sentence that is the result."""
        self.out.print(Text(lines(words)))

    def note(self, words: str) -> None:
        """A sentence beside the result."""
        self.err.print(Text(lines(words), style="dim"))

    @contextmanager
    def progress(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar on stderr; each call of what it yields is one step. Pipes and scripts see nothing of it."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        hidden = not self.err.is_terminal or total < 2
        with Progress(*columns, console=self.err, transient=True, disable=hidden) as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)

    @contextmanager
    def live(self) -> Iterator[Live]:
        """A place on the terminal that is drawn anew."""
        with Live(console=self.out, refresh_per_second=4, transient=False) as live:
            yield live


def table_of(rows: Iterable[Row], columns: Sequence[Column], *, title: str | None = None) -> Table:
    """Words are folded, never cut: an id must stay one that can be copied."""
    table = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name, _ in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(_coloured(plain(value_of(row, where))) for _, where in columns))
    return table


def _coloured(value: str) -> Text:
    style = "green" if value in GOOD else "red" if value in BAD else ""
    return Text(value, style=style)
