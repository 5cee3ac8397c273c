"""`pilot operators`: who operates the platform."""

from typing import Annotated

import typer

from pilot_cli.commands.nouns import Id, columns, given, group, must_change
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("operators", "Who operates the platform, in which role.")
COLUMNS = columns(id="id", name="name", role="role", created="createdAt", revoked="revokedAt")

ROLES = "viewer reads, operator does the day's work, admin everything."


@COMMANDS.command("list")
def list_operators(context: typer.Context, limit: Limit = 50, cursor: After = None, as_json: AsJson = False) -> None:
    """Operators without their keys, newest first."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("operators", rows_max=limit, cursor=cursor), COLUMNS)


@COMMANDS.command("create")
def create_operator(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", help="Who it is.")],
    role: Annotated[str, typer.Option("--role", help=ROLES)] = "viewer",
    as_json: AsJson = False,
) -> None:
    """Create an operator. The key is shown this once and cannot be shown again."""
    desk = desk_of(context, as_json=as_json)
    created = desk.operator().post("operators", body=given(name=name, role=role))
    desk.show(created, (*COLUMNS, ("key", "key")))
    if not as_json:
        desk.screen.note("Keep it now: only its hash is stored.")


@COMMANDS.command("change")
def change_operator(
    context: typer.Context,
    operator: Id,
    name: Annotated[str | None, typer.Option("--name", help="Who it is.")] = None,
    role: Annotated[str | None, typer.Option("--role", help=ROLES)] = None,
    as_json: AsJson = False,
) -> None:
    """Rename an operator or give another role."""
    desk = desk_of(context, as_json=as_json)
    body = must_change(given(name=name, role=role))
    desk.show(desk.operator().call("PATCH", "operators", str(operator), body=body), COLUMNS)


@COMMANDS.command("revoke")
def revoke_operator(context: typer.Context, operator: Id, yes: Yes = False, as_json: AsJson = False) -> None:
    """Revoke an operator's key; within seconds it opens nothing any more, and for good."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Revoke the key of operator {operator} for good?", yes=yes)
    desk.show(desk.operator().call("DELETE", "operators", str(operator)), columns(revoked="id"))
