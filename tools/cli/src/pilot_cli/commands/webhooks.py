"""`pilot webhooks`: customers' endpoints, what was delivered to them, and delivering it again."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any
from uuid import UUID

import typer

from pilot_cli.client import Client
from pilot_cli.commands.nouns import Id, columns, given, group
from pilot_cli.desk import After, AsJson, Desk, Limit, Yes, desk_of
from pilot_cli.failures import Exit, Failure, worst

COMMANDS = group("webhooks", "Customers' endpoints and their deliveries.")
COLUMNS = columns(
    id="id", name="name", origin="origin", active="active", events="events", number="instance", reason="disabledReason"
)
DETAILS = (
    *COLUMNS,
    *columns(
        hint="disabledHint", off_since="disabledSince", failing_since="failingSince", last="lastTriggered",
        tenant="tenantId", created="createdAt",
    ),
)  # fmt: skip
DELIVERIES = columns(
    delivery="id", event="event", status="status", answer="statusCode", attempts="attempts", problem="problem",
    at="createdAt", due="dueAt", hint="hint",
)  # fmt: skip

Endpoint = Annotated[UUID, typer.Argument(help="The webhook's id.")]
Events = Annotated[list[str] | None, typer.Option("--event", help="Only this event; repeatable.")]


@COMMANDS.command("list")
def list_webhooks(
    context: typer.Context,
    tenant: Annotated[UUID, typer.Option("--tenant", help="Whose.")],
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """The webhooks of a tenant."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("webhooks", rows_max=limit, cursor=cursor, tenantId=tenant), COLUMNS)


@COMMANDS.command("get")
def get_webhook(context: typer.Context, webhook: Id, as_json: AsJson = False) -> None:
    """One webhook."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().get("webhooks", str(webhook)), DETAILS)


@COMMANDS.command("deliveries")
def list_deliveries(
    context: typer.Context,
    webhook: Endpoint,
    status: Annotated[str | None, typer.Option("--status", help="Only with this result.")] = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """What was delivered to a webhook, and what was not."""
    desk = desk_of(context, as_json=as_json)
    pages = desk.operator().pages("webhooks", str(webhook), "deliveries", rows_max=limit, cursor=cursor, status=status)
    desk.show_list(pages, DELIVERIES)


@COMMANDS.command("replay")
def replay_deliveries(
    context: typer.Context,
    webhook: Endpoint,
    deliveries: Annotated[list[str] | None, typer.Argument(help="Deliveries; or a period by --from and --to.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="From then on, RFC 3339.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Until then, RFC 3339.")] = None,
    events: Events = None,
    status: Annotated[str | None, typer.Option("--status", help="Only what ended so.")] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Deliver again: some deliveries, or all of a period. The customer sees the same delivery ids."""
    desk = desk_of(context, as_json=as_json)
    operator, chosen = desk.operator(), list(dict.fromkeys(deliveries or []))
    if bool(chosen) == bool(since and until):
        raise Failure(Exit.USAGE, "Give deliveries, or a period by --from and --to, and not both.")
    if not chosen:
        desk.confirm(f"Deliver everything from {since} to {until} again?", yes=yes)
        period = {"from": since, "to": until, **given(events=events or None, status=status)}
        _show_portions(desk, list(_portions(operator, webhook, period)))
        return
    desk.confirm(f"Deliver {len(chosen)} again?", yes=yes)
    results = desk.each(
        "replaying", chosen, lambda one: operator.post("webhooks", str(webhook), "deliveries", one, "replay")
    )
    _show_replayed(desk, results)


def _portions(operator: Client, webhook: UUID, period: Mapping[str, Any]) -> Iterator[Any]:
    """The API replays some hundreds at a time and says where to go on."""
    cursor = None
    while True:
        answer = operator.post("webhooks", str(webhook), "replay", body={**period, **given(cursor=cursor)})
        yield answer
        cursor = answer["nextCursor"]
        if cursor is None:
            return


def _show_portions(desk: Desk, answers: list[Any]) -> None:
    if desk.screen.as_json:
        desk.screen.json(answers[0] if len(answers) == 1 else answers)
        return
    desk.screen.line(f"{sum(answer['count'] for answer in answers)} will be delivered again.")
    for skipped in (one for answer in answers for one in answer["skipped"]):
        desk.screen.note(f"skipped: {skipped}")


def _show_replayed(desk: Desk, results: list[tuple[str, Any]]) -> None:
    done = [result for _, result in results if not isinstance(result, Failure)]
    failures = [(name, result) for name, result in results if isinstance(result, Failure)]
    if desk.screen.as_json:
        desk.screen.json(done[0] if len(results) == 1 and done else done)
    elif done:
        desk.screen.line(f"{len(done)} will be delivered again.")
    if failures:
        words = "\n".join(f"{name}: {failure.sentence}" for name, failure in failures)
        raise Failure(worst([failure.exit_code for _, failure in failures]), words)


@COMMANDS.command("enable")
def enable_webhook(context: typer.Context, webhook: Endpoint, yes: Yes = False, as_json: AsJson = False) -> None:
    """Switch a webhook on again that was switched off, by the customer or after failing for days."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm("Switch it on? What is owed to it is delivered then.", yes=yes)
    desk.show(desk.operator().post("webhooks", str(webhook), "enable"), DETAILS)
