"""`pilot reconcile`: whether the books balance, and where they do not."""

from typing import Annotated, Any

import typer

from pilot_cli.commands.nouns import columns, group
from pilot_cli.desk import AsJson, desk_of
from pilot_cli.failures import Exit, Failure
from pilot_cli.screen import Screen

COMMANDS = group("reconcile", "The second memory of every message: do the books balance?")


@COMMANDS.command("report")
def report(
    context: typer.Context,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if the books do not balance.")] = False,
    as_json: AsJson = False,
) -> None:
    """Books per tenant and hour, messages that were repeated, and what does not balance."""
    desk = desk_of(context, as_json=as_json)
    found = desk.operator().get("reconciliation")
    if as_json:
        desk.screen.json(found)
    else:
        _show(desk.screen, found)
    if strict and found.get("imbalance"):
        raise Failure(Exit.FAILED, "The books do not balance.")


def _show(screen: Screen, found: dict[str, Any]) -> None:
    """Whatever lists the report has, each as a table of its own members."""
    for name, part in found.items():
        if isinstance(part, list) and part:
            screen.line(f"{name}: {len(part)}")
            rows = [one if isinstance(one, dict) else {"value": one} for one in part]
            screen.rows(rows, columns(**{member: member for member in rows[0]}))
        elif not isinstance(part, list):
            screen.line(f"{name}: {part}")
        else:
            screen.line(f"{name}: none")
