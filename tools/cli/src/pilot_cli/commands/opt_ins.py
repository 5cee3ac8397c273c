"""`pilot opt-ins`: recipients' consent to messages from the platform's number."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, ProjectOption, TenantOption, columns, group
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("opt-ins", "Recipients' consent.")
COLUMNS = columns(
    id="id", phone="phone", project="projectId", tenant="tenantId", since="firstOptInAt", last="lastSeenAt",
    revoked="revokedAt",
)  # fmt: skip


@COMMANDS.command("list")
def list_opt_ins(
    context: typer.Context,
    tenant: TenantOption = None,
    project: ProjectOption = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Consents, newest first; a viewer sees only the end of each phone number."""
    desk = desk_of(context, as_json=as_json)
    pages = desk.operator().pages("opt-ins", rows_max=limit, cursor=cursor, tenantId=tenant, projectId=project)
    desk.show_list(pages, COLUMNS)


@COMMANDS.command("get")
def get_opt_in(context: typer.Context, opt_in: Id, as_json: AsJson = False) -> None:
    """One consent."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().get("opt-ins", str(opt_in)), COLUMNS)


@COMMANDS.command("grant")
def grant_opt_in(
    context: typer.Context,
    project: Annotated[UUID, typer.Option("--project", help="To whose messages.")],
    phone: Annotated[str, typer.Option("--phone", help="The recipient's.")],
    as_json: AsJson = False,
) -> None:
    """Record that a recipient agreed."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().post("opt-ins", body={"projectId": str(project), "phone": phone}), COLUMNS)


@COMMANDS.command("revoke")
def revoke_opt_in(context: typer.Context, opt_in: Id, yes: Yes = False, as_json: AsJson = False) -> None:
    """Record that a recipient withdrew; nothing more is sent from the platform's number."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Revoke consent {opt_in}?", yes=yes)
    desk.show(desk.operator().call("DELETE", "opt-ins", str(opt_in)), COLUMNS)
