"""`pilot people`: a tenant's own phone numbers, which its TEST keys may write to (the API's profiles)."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, TenantOption, columns, given, group
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("people", "Whom a tenant's TEST keys may write to.")
COLUMNS = columns(id="id", name="name", phone="phone", tenant="tenantId", created="createdAt")


@COMMANDS.command("list")
def list_people(
    context: typer.Context,
    tenant: TenantOption = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """People, newest first; a viewer sees only the end of each phone number."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("profiles", rows_max=limit, cursor=cursor, tenantId=tenant), COLUMNS)


@COMMANDS.command("add")
def add_person(
    context: typer.Context,
    tenant: Annotated[UUID, typer.Option("--tenant", help="Whose.")],
    name: Annotated[str, typer.Option("--name", help="Who it is.")],
    phone: Annotated[str, typer.Option("--phone", help="Like +5547991000000.")],
    as_json: AsJson = False,
) -> None:
    """Add a person."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().post("profiles", body=given(tenantId=tenant, name=name, phone=phone)), COLUMNS)


@COMMANDS.command("remove")
def remove_person(context: typer.Context, person: Id, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a person; TEST keys may not write to them any more."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Remove {person}?", yes=yes)
    desk.show(desk.operator().call("DELETE", "profiles", str(person)), columns(removed="id"))
