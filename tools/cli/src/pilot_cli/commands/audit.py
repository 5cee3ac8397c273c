"""`pilot audit`: what operators changed."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import columns, group
from pilot_cli.desk import After, AsJson, Limit, desk_of

COMMANDS = group("audit", "What operators changed.")
COLUMNS = columns(
    at="at", operator="operator.name", action="action", target="target.type", id="target.id", request="requestId"
)


@COMMANDS.command("list")
def list_changes(
    context: typer.Context,
    action: Annotated[str | None, typer.Option("--action", help="Like number.pause.")] = None,
    operator: Annotated[UUID | None, typer.Option("--operator", help="Only by this operator.")] = None,
    target: Annotated[UUID | None, typer.Option("--target", help="Only to this thing.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="Not before, RFC 3339.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Before, RFC 3339.")] = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Changes, newest first; --json also shows each before and after."""
    desk = desk_of(context, as_json=as_json)
    pages = desk.operator().pages(
        "audit",
        rows_max=limit,
        cursor=cursor,
        action=action,
        operatorId=operator,
        targetId=target,
        since=since,
        until=until,
    )
    desk.show_list(pages, COLUMNS)
