"""Runbooks do not rot: the commands they tell to type exist, and so do the metrics they tell to look at."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from pilot_cli.app import build

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "runbooks").glob("*.md"))
HEADINGS = ["How it shows", "How to be sure", "It is over when", "Do not"]
SUFFIXES = ("_bucket", "_sum", "_count", "_created")
TREE = typer.main.get_command(build())
ID = "01a22e80-84dc-7efb-9452-5f81cfc53c64"


def commands_of(page: Path) -> list[str]:
    """Every `pilot …` of a page, in blocks and within sentences, without what is said beside it."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```\n(.*?)^ *```$", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    spans = re.findall(r"`(pilot [^`\n]+)`", re.sub(r"^ *```\n.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE))
    return [re.split(r" +#|[|>]", line)[0].strip() for line in (*lines, *spans) if line.startswith("pilot ")]


def parse(line: str) -> None:
    """Raises for a command or option that does not exist."""
    words, command, path = shlex.split(line)[1:], TREE, ["pilot"]
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command, path = command.commands[words[0]], [*path, words.pop(0)]
    assert not hasattr(command, "commands"), f"{line}: no such command"
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known, line
    values = [ID if word.isupper() and word not in ("LIVE", "TEST") else word for word in words]
    command.make_context(" ".join(path), values)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    lines = commands_of(page)
    assert lines
    for line in lines:
        if shlex.split(line)[1:] and not line.endswith("…"):
            parse(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_metrics_of_a_page_exist(page: Path) -> None:
    sources = "\n".join(path.read_text() for place in ("libs", "services") for path in (ROOT / place).rglob("*.py"))
    defined = set(re.findall(r'"(pilot_[a-z_]+)"', sources))
    named = set(re.findall(r"\bpilot_[a-z_]+[a-z]\b", page.read_text())) - {"pilot_dispatcher", "pilot_reconciler"}
    assert named - defined == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_log_lines_of_a_page_exist(page: Path) -> None:
    sources = "\n".join(path.read_text() for place in ("libs", "services") for path in (ROOT / place).rglob("*.py"))
    logged = {"broker_session_lost", "broker_session_hopeless", "outbox_rows_returned", "delivery_unreadable"}
    logged |= {"delivery_failed", "service_start_failed", "sender_failed", "content_unreadable", "access_unreadable"}
    named = logged | {"event_seal_broken"}
    assert {name for name in named if name in page.read_text() and f'"{name}"' not in sources} == set()


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "README"], ids=lambda page: page.stem)
def test_a_page_answers_the_same_questions(page: Path) -> None:
    found: list[Any] = re.findall(r"^## (.+)$", page.read_text(), flags=re.MULTILINE)
    assert [heading for heading in found if heading in HEADINGS] == HEADINGS
    assert f"({page.name})" in (page.parent / "README.md").read_text()


def test_a_command_that_is_none_is_found_out() -> None:
    for line in ("pilot lanes", "pilot numbers lanes --nope", "pilot stuck --overdue soon", "pilot numbers"):
        with pytest.raises(Exception, match=r"."):
            parse(line)
