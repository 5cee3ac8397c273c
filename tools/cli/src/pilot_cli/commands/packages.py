"""`pilot packages`: messages on top of a plan, for a while."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, TenantOption, columns, given, group
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("packages", "Messages on top of a plan.")
COLUMNS = columns(id="id", tenant="tenantId", messages="messages", starts="startsAt", ends="endsAt")


@COMMANDS.command("list")
def list_packages(
    context: typer.Context,
    tenant: TenantOption = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Packages, newest first."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("packages", rows_max=limit, cursor=cursor, tenantId=tenant), COLUMNS)


@COMMANDS.command("create")
def create_package(
    context: typer.Context,
    tenant: Annotated[UUID, typer.Option("--tenant", help="Whose.")],
    messages: Annotated[int, typer.Option("--messages", min=1, help="How many.")],
    starts: Annotated[str, typer.Option("--from", help="RFC 3339.")],
    ends: Annotated[str, typer.Option("--to", help="RFC 3339.")],
    as_json: AsJson = False,
) -> None:
    """Add a package."""
    desk = desk_of(context, as_json=as_json)
    body = given(tenantId=tenant, messages=messages, startsAt=starts, endsAt=ends)
    desk.show(desk.operator().post("packages", body=body), COLUMNS)


@COMMANDS.command("delete")
def delete_package(context: typer.Context, package: Id, yes: Yes = False, as_json: AsJson = False) -> None:
    """Take a package away."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Delete package {package}?", yes=yes)
    desk.show(desk.operator().call("DELETE", "packages", str(package)), columns(deleted="id"))
