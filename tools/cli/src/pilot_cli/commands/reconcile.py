"""`pilot reconcile`: whether the books balance, and where they do not."""

from typing import Annotated, Any

import typer

from pilot_cli.commands.nouns import TenantOption, columns, group
from pilot_cli.desk import AsJson, desk_of
from pilot_cli.failures import Exit, Failure
from pilot_cli.screen import Screen

COMMANDS = group("reconcile", "The second memory of every message: do the books balance?")
TOTALS = columns(
    since="since", until="until", balanced="balanced", complete="complete",
    accepted="api.accepted", final="api.final", open="api.open",
    accepted_in_ledger="ledger.accepted", final_in_ledger="ledger.final", open_in_ledger="ledger.open",
    overdue="watched.overdue", dead_letters="watched.deadLettersWaiting",
)  # fmt: skip
WRONG = columns(message="messageId", reason="reason", hour="hour", sentence="sentence")
REPEATED = columns(
    message="messageId", instance="instance", status="status", requeues="requeues", verifies="verifies", asked="askedAt"
)


@COMMANDS.command("report")
def report(
    context: typer.Context,
    since: Annotated[str | None, typer.Option("--since", help="Accepted from then on, RFC 3339; a day ago.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Accepted before, RFC 3339; now.")] = None,
    tenant: TenantOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if the books do not balance.")] = False,
    as_json: AsJson = False,
) -> None:
    """Both books of messages, who is missing in which, and what the reconciler has trouble with."""
    desk = desk_of(context, as_json=as_json)
    found = desk.operator().get("reconciliation", since=since, until=until, tenantId=tenant)
    if as_json:
        desk.screen.json(found)
    else:
        _show(desk.screen, found)
    if strict and not found["balanced"]:
        raise Failure(Exit.FAILED, "The books do not balance.")


def _show(screen: Screen, found: dict[str, Any]) -> None:
    """Totals first, then only what is wrong."""
    screen.record(found, TOTALS)
    wrong = [{**one, "hour": account["hour"]} for account in found["accounts"] for one in account["wrong"]]
    for rows, shown in ((wrong, WRONG), (found["watched"]["repeated"], REPEATED)):
        if rows:
            screen.rows(rows, shown)
