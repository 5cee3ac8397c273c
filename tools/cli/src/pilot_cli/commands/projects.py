"""`pilot projects`: what a tenant sends for."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, TenantOption, columns, given, group, must_change
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("projects", "Tenants' projects.")
COLUMNS = columns(
    id="id", name="name", slug="slug", tenant="tenantId", production="productionApproved", created="createdAt"
)


@COMMANDS.command("list")
def list_projects(
    context: typer.Context,
    tenant: TenantOption = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Projects, newest first."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("projects", rows_max=limit, cursor=cursor, tenantId=tenant), COLUMNS)


@COMMANDS.command("get")
def get_project(context: typer.Context, project: Id, as_json: AsJson = False) -> None:
    """One project."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().get("projects", str(project)), COLUMNS)


@COMMANDS.command("create")
def create_project(
    context: typer.Context,
    tenant: Annotated[UUID, typer.Option("--tenant", help="Whose.")],
    name: Annotated[str, typer.Option("--name", help="What it is called.")],
    production: Annotated[bool, typer.Option("--production", help="Its LIVE keys may send.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a project."""
    desk = desk_of(context, as_json=as_json)
    body = given(tenantId=tenant, name=name, productionApproved=production)
    desk.show(desk.operator().post("projects", body=body), COLUMNS)


@COMMANDS.command("change")
def change_project(
    context: typer.Context,
    project: Id,
    name: Annotated[str | None, typer.Option("--name", help="What it is called.")] = None,
    production: Annotated[
        bool | None, typer.Option("--production/--no-production", help="Whether its LIVE keys may send.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Rename a project, approve it for production, or take the approval back."""
    desk = desk_of(context, as_json=as_json)
    body = must_change(given(name=name, productionApproved=production))
    if production is False:
        desk.confirm("Stop its LIVE keys from sending?", yes=yes)
    desk.show(desk.operator().call("PATCH", "projects", str(project), body=body), COLUMNS)
