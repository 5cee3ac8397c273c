"""Verbs on messages: get, explain, cancel, reprocess, and what is stuck."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer

from pilot_cli.commands.nouns import ProjectOption, TenantOption, columns, number_id
from pilot_cli.commands.watching import AsCustomer, Ids
from pilot_cli.desk import After, AsJson, Desk, Limit, Yes, desk_of
from pilot_cli.failures import ApiFailure, Exit, Failure, worst
from pilot_cli.screen import Screen

CANCELED_AT_ONCE = 100
STUCK = columns(
    id="id",
    due_since="deliverBy",
    instance="instance",
    category="category",
    environment="environment",
    tenant="tenantId",
    until="deliverUntil",
)
DETAILS = columns(
    id="id",
    status="status",
    error="errorCode",
    why="errorMessage",
    round="round",
    version="version",
    instance="instance",
    number="numberId",
    tenant="tenantId",
    project="projectId",
    to="destinationNumber",
    environment="environment",
    category="category",
    type="type",
    correlation="correlationId",
    provider_id="externalMessageId",
    created="createdAt",
    due="deliverBy",
    until="deliverUntil",
    dispatched="dispatchedAt",
    sent="sentAt",
    delivered="deliveredAt",
    read="readAt",
    failed="failedAt",
    canceled="canceledAt",
    possibly_twice="duplicatePossible",
)
STEPS = columns(at="at", round="round", what="what", code="code", meaning="sentence")

Reference = Annotated[str, typer.Argument(help="Its id, correlation id or provider id.")]


def add_to(root: typer.Typer) -> None:
    """The verbs."""
    for name, verb in (("stuck", stuck), ("get", get), ("explain", explain), ("cancel", cancel)):
        root.command(name, rich_help_panel="Messages")(verb)
    root.command("timeline", rich_help_panel="Messages", help="The same as `explain`.")(explain)
    root.command("reprocess", rich_help_panel="Messages")(reprocess)


def stuck(
    context: typer.Context,
    overdue: Annotated[int, typer.Option("--overdue", min=0, help="Due for at least so many seconds.")] = 60,
    number: Annotated[str | None, typer.Option("--number", help="Only of this number: its id or instance.")] = None,
    tenant: TenantOption = None,
    project: ProjectOption = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Messages of all tenants that should have left and have not, the longest known first."""
    desk = desk_of(context, as_json=as_json)
    operator = desk.operator()
    pages = operator.pages(
        "messages",
        "waiting",
        rows_max=limit,
        cursor=cursor,
        overdueSeconds=overdue,
        tenantId=tenant,
        projectId=project,
        numberId=number_id(operator, number) if number else None,
    )
    desk.show_list(pages, STUCK, nothing="Nothing is stuck.")


def get(context: typer.Context, message: Reference, as_customer: AsCustomer = False, as_json: AsJson = False) -> None:
    """Where a message is. Operators see whose it is, never what it says; customers see their own."""
    desk = desk_of(context, as_json=as_json)
    desk.show(_door(desk, as_customer).get("messages", message), DETAILS)


def explain(
    context: typer.Context, message: Reference, as_customer: AsCustomer = False, as_json: AsJson = False
) -> None:
    """Why a message is where it is: every step so far, and what it waits for now."""
    desk = desk_of(context, as_json=as_json)
    timeline = _door(desk, as_customer).get("messages", message, "timeline")
    if as_json:
        desk.screen.json(timeline)
        return
    desk.screen.record(timeline, columns(message="id", status="status", instance="instance", tenant="tenantId"))
    desk.screen.rows(timeline["steps"], STEPS)
    _say_what_it_waits_for(desk.screen, timeline)


def _say_what_it_waits_for(screen: Screen, timeline: dict[str, Any]) -> None:
    waiting = timeline.get("waitingFor")
    if timeline.get("notice"):
        screen.line(f"What it waits for is not known: {timeline['notice']}.")
    if not waiting:
        return
    details = {"ahead of it": "ahead", "expected": "expectedDispatchAt", "until": "until"}
    known = [f"{name} {waiting[member]}" for name, member in details.items() if waiting.get(member) is not None]
    screen.line(f"Now: {waiting['sentence']} [{waiting['code']}] " + ", ".join(known))
    lane = waiting.get("number")
    if lane:
        words = [f"The number is {lane['state']}", f"({lane['reason']})" if lane["reason"] else ""]
        paused = ", and sending from it is paused" if lane["paused"] else ""
        screen.line(" ".join(word for word in words if word) + f" since {lane['observedAt']}{paused}.")


def cancel(
    context: typer.Context, ids: Ids, as_customer: AsCustomer = False, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Cancel messages that have not been sent; what is reported as canceled will never be sent."""
    desk = desk_of(context, as_json=as_json)
    is_operator = desk.is_operator(as_customer=as_customer)
    desk.confirm(f"Cancel {_counted(ids)}? They will never be sent.", yes=yes)
    outcome = _cancel_each(desk, ids) if is_operator else _cancel_own(desk, ids)
    if as_json:
        desk.screen.json(outcome)
    else:
        rows = [{"id": one, "result": "CANCELED"} for one in outcome["cancelled"]]
        rows += [{"id": one["id"], "result": one["reason"]} for one in outcome["failed"]]
        desk.screen.rows(rows, columns(id="id", result="result"))
    reasons = [_exit_of(one["reason"]) for one in outcome["failed"]]
    if reasons:
        raise Failure(worst(reasons), f"{len(reasons)} of {len(ids)} not canceled.")


def _cancel_own(desk: Desk, ids: Sequence[str]) -> dict[str, Any]:
    together: dict[str, Any] = {"cancelled": [], "failed": []}
    for start in range(0, len(ids), CANCELED_AT_ONCE):
        body = {"messageIds": list(ids[start : start + CANCELED_AT_ONCE])}
        part = desk.customer().call("DELETE", "messages", "cancel", body=body)
        for name in together:
            together[name] += part[name]
    return together


def _cancel_each(desk: Desk, ids: Sequence[str]) -> dict[str, Any]:
    operator = desk.operator()

    def one(name: str) -> Any:
        return operator.post("messages", _message_id(operator, name), "cancel")

    results = desk.each("canceling", ids, one)
    return {
        "cancelled": [name for name, result in results if not isinstance(result, Failure)],
        "failed": [
            {"id": name, "reason": result.code if isinstance(result, ApiFailure) else "UNAVAILABLE"}
            for name, result in results
            if isinstance(result, Failure)
        ],
    }


def reprocess(context: typer.Context, ids: Ids, yes: Yes = False, as_json: AsJson = False) -> None:
    """Send messages that failed again, each in a new round. What may have been sent before may arrive twice."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Send {_counted(ids)} again?", yes=yes)
    operator = desk.operator()
    results = desk.each(
        "reprocessing", ids, lambda name: operator.post("messages", _message_id(operator, name), "reprocess")
    )
    done = [result for _, result in results if not isinstance(result, Failure)]
    failures = [(name, result) for name, result in results if isinstance(result, Failure)]
    if as_json:
        desk.screen.json(done)
    elif done:
        desk.screen.rows(
            done,
            columns(id="id", status="status", round="round", until="deliverUntil", possibly_twice="duplicatePossible"),
        )
    if failures:
        raise Failure(
            worst([failure.exit_code for _, failure in failures]),
            "\n".join(f"{name}: {failure.sentence}" for name, failure in failures),
        )


def _message_id(operator: Any, name: str) -> str:
    try:
        return str(UUID(name))
    except ValueError:
        return str(operator.get("messages", name)["id"])


def _door(desk: Desk, as_customer: bool) -> Any:
    return desk.operator() if desk.is_operator(as_customer=as_customer) else desk.customer()


def _counted(ids: Sequence[str]) -> str:
    return f"message {ids[0]}" if len(ids) == 1 else f"{len(ids)} messages"


def _exit_of(reason: str) -> Exit:
    if reason.endswith("NOT_FOUND"):
        return Exit.NOT_FOUND
    return Exit.UNAVAILABLE if "UNAVAILABLE" in reason else Exit.REFUSED
