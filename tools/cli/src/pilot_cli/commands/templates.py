"""`pilot templates`: creating them, and deciding about what customers submitted."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, columns, given, group
from pilot_cli.desk import AsJson, Desk, Yes, desk_of

COMMANDS = group("templates", "Templates: what waits for a decision, and the decision.")
COLUMNS = columns(
    id="id", name="name", category="category", language="language", version="latestVersion.version",
    state="latestVersion.status", variables="variables",
)  # fmt: skip

Version = Annotated[int | None, typer.Option("--version", min=1, help="The version you have read; else the newest.")]


@COMMANDS.command("waiting")
def list_waiting(context: typer.Context, as_json: AsJson = False) -> None:
    """Templates whose newest version waits for a decision."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(iter([desk.operator().page("templates", "waiting")]), COLUMNS, nothing="Nothing waits.")


@COMMANDS.command("list")
def list_own(context: typer.Context, as_json: AsJson = False) -> None:
    """The templates of the API key's project, as its customer sees them."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(iter([desk.customer().page("templates")]), COLUMNS)


@COMMANDS.command("create")
def create_template(
    context: typer.Context,
    project: Annotated[UUID, typer.Option("--project", help="Whose.")],
    name: Annotated[str, typer.Option("--name", help="Letters, digits and underscores.")],
    category: Annotated[str, typer.Option("--category", help="OTP, UTILITY or MARKETING.")],
    body: Annotated[str, typer.Option("--body", help="The text, with variables like {{name}}.")],
    production: Annotated[bool, typer.Option("--production", help="LIVE keys may send it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a template with an approved first version."""
    desk = desk_of(context, as_json=as_json)
    wanted = given(projectId=project, name=name, category=category, body=body, productionApproved=production)
    desk.show(desk.operator().post("templates", body=wanted), COLUMNS)


@COMMANDS.command("approve")
def approve(context: typer.Context, template: Id, version: Version = None, as_json: AsJson = False) -> None:
    """Approve the submitted version."""
    _decide(desk_of(context, as_json=as_json), template, "approve", given(version=version))


@COMMANDS.command("reject")
def reject(
    context: typer.Context,
    template: Id,
    because: Annotated[str, typer.Option("--because", help="Its author reads this.")],
    version: Version = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Reject the submitted version."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm("Reject it?", yes=yes)
    _decide(desk, template, "reject", given(version=version, reason=because))


@COMMANDS.command("release")
def release(
    context: typer.Context,
    template: Id,
    stop: Annotated[bool, typer.Option("--stop", help="Stop LIVE keys from sending it instead.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let LIVE keys send the newest approved version, or stop them."""
    desk = desk_of(context, as_json=as_json)
    if stop:
        desk.confirm("Stop LIVE keys from sending it?", yes=yes)
    _decide(desk, template, "production-approval", {"approved": not stop})


def _decide(desk: Desk, template: UUID, decision: str, body: Mapping[str, Any]) -> None:
    desk.show(desk.operator().post("templates", str(template), decision, body=body), COLUMNS)
