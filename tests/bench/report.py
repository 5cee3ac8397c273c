"""What a bench has found out, as lines of one table."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure. `ratio` compares with the reference of the same run; `bar` is what the ratio should reach."""

    bench: str
    what: str
    figure: str
    value: float | None = None
    ratio: float | None = None
    bar: float | None = None


def rate(bench: str, what: str, per_second: float, *, reference: float | None = None, bar: float | None = None) -> Line:
    """A line about a rate."""
    ratio = per_second / reference if reference else None
    return Line(bench=bench, what=what, figure=f"{per_second:,.0f}/s", value=per_second, ratio=ratio, bar=bar)


def latency(bench: str, what: str, *, p50_ms: float, p99_ms: float) -> Line:
    """A line about how long something takes."""
    return Line(bench=bench, what=what, figure=f"p50 {p50_ms:.1f} ms, p99 {p99_ms:.1f} ms", value=p50_ms)


def remark(bench: str, what: str, finding: str) -> Line:
    """A line about a quality that is no number."""
    return Line(bench=bench, what=what, figure=finding)


def show(lines: Sequence[Line]) -> None:
    """Print a table on standard output."""
    header = ("bench", "what", "figure", "ratio", "bar")
    rows = [header, *((line.bench, line.what, line.figure, _ratio(line), _bar(line)) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    sys.stdout.flush()


def _ratio(line: Line) -> str:
    return "" if line.ratio is None else f"{line.ratio:.2f}"


def _bar(line: Line) -> str:
    if line.bar is None or line.ratio is None:
        return ""
    return f">= {line.bar:g} {'met' if line.ratio >= line.bar else 'MISSED'}"
