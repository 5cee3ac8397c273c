"""`pilot keys`: customers' API keys."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, ProjectOption, TenantOption, columns, given, group, number_id
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("keys", "Customers' API keys.")
COLUMNS = columns(
    id="id", name="name", environment="environment", scope="scope", project="projectId", number="numberId",
    last_used="lastUsedAt", revoked="revokedAt",
)  # fmt: skip


@COMMANDS.command("list")
def list_keys(
    context: typer.Context,
    tenant: TenantOption = None,
    project: ProjectOption = None,
    number: Annotated[str | None, typer.Option("--number", help="Only of this number: its id or instance.")] = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Keys without their secrets, newest first, revoked ones included."""
    desk = desk_of(context, as_json=as_json)
    operator = desk.operator()
    of_number = number_id(operator, number) if number else None
    pages = operator.pages(
        "keys", rows_max=limit, cursor=cursor, tenantId=tenant, projectId=project, numberId=of_number
    )
    desk.show_list(pages, COLUMNS)


@COMMANDS.command("issue")
def issue_key(
    context: typer.Context,
    project: Annotated[UUID, typer.Option("--project", help="Whose messages it sends.")],
    name: Annotated[str, typer.Option("--name", help="What it is called.")],
    environment: Annotated[str, typer.Option("--environment", help="TEST or LIVE.")] = "TEST",
    number: Annotated[str | None, typer.Option("--number", help="The number it sends from: id or instance.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", help="`number` or `tenant`.")] = None,
    as_json: AsJson = False,
) -> None:
    """Issue a key. It is shown this once and cannot be shown again."""
    desk = desk_of(context, as_json=as_json)
    operator = desk.operator()
    of_number = number_id(operator, number) if number else None
    body = given(projectId=project, environment=environment, name=name, numberId=of_number, scope=scope)
    desk.show(operator.post("keys", body=body), columns(id="id", name="name", key="key"))
    if not as_json:
        desk.screen.note("Keep it now: only its hash is stored.")


@COMMANDS.command("revoke")
def revoke_key(context: typer.Context, key: Id, yes: Yes = False, as_json: AsJson = False) -> None:
    """Revoke a key; within seconds it opens nothing any more, and for good."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Revoke key {key} for good?", yes=yes)
    desk.show(desk.operator().call("DELETE", "keys", str(key)), columns(revoked="id"))
