"""`pilot plans`: what tenants may send."""

from typing import Annotated

import typer

from pilot_cli.commands.nouns import Id, columns, given, group, must_change
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of
from pilot_cli.failures import Exit, Failure

COMMANDS = group("plans", "What tenants may send.")
COLUMNS = columns(
    id="id", name="name", live_monthly="liveMonthly", live_daily="liveDaily", test_daily="testDaily",
    test_anyone="testAnyone", media="mediaAllowed", requests_per_minute="requestsPerMinute",
)  # fmt: skip
UNLIMITED = "unlimited"

Count = Annotated[str | None, typer.Option(help=f"A number, or `{UNLIMITED}`.")]
Anyone = Annotated[
    bool | None, typer.Option("--test-anyone/--no-test-anyone", help="Whether TEST keys may write to anybody.")
]
Media = Annotated[bool | None, typer.Option("--media/--no-media", help="Whether media may be sent.")]


@COMMANDS.command("list")
def list_plans(context: typer.Context, limit: Limit = 50, cursor: After = None, as_json: AsJson = False) -> None:
    """Plans, newest first; an empty limit is none."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("plans", rows_max=limit, cursor=cursor), COLUMNS)


@COMMANDS.command("get")
def get_plan(context: typer.Context, plan: Id, as_json: AsJson = False) -> None:
    """One plan."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().get("plans", str(plan)), COLUMNS)


@COMMANDS.command("create")
def create_plan(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", help="What it is called; it keeps the name.")],
    live_monthly: Count = None,
    live_daily: Count = None,
    test_daily: Count = None,
    requests_per_minute: Count = None,
    test_anyone: Anyone = None,
    media: Media = None,
    as_json: AsJson = False,
) -> None:
    """Create a plan; what is not said is not limited."""
    desk = desk_of(context, as_json=as_json)
    limits = _limits(live_monthly, live_daily, test_daily, requests_per_minute)
    body = {**given(name=name, testAnyone=test_anyone, mediaAllowed=media), **limits}
    desk.show(desk.operator().post("plans", body=body), COLUMNS)


@COMMANDS.command("change")
def change_plan(
    context: typer.Context,
    plan: Id,
    live_monthly: Count = None,
    live_daily: Count = None,
    test_daily: Count = None,
    requests_per_minute: Count = None,
    test_anyone: Anyone = None,
    media: Media = None,
    as_json: AsJson = False,
) -> None:
    """Change a plan for all its tenants; what is not said stays."""
    desk = desk_of(context, as_json=as_json)
    limits = _limits(live_monthly, live_daily, test_daily, requests_per_minute)
    body = must_change({**given(testAnyone=test_anyone, mediaAllowed=media), **limits})
    desk.show(desk.operator().call("PATCH", "plans", str(plan), body=body), COLUMNS)


@COMMANDS.command("delete")
def delete_plan(context: typer.Context, plan: Id, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete a plan that no tenant has."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Delete plan {plan}?", yes=yes)
    desk.show(desk.operator().call("DELETE", "plans", str(plan)), columns(deleted="id"))


def _limits(monthly: str | None, daily: str | None, test: str | None, rate: str | None) -> dict[str, int | None]:
    said = {"liveMonthly": monthly, "liveDaily": daily, "testDaily": test, "requestsPerMinute": rate}
    return {name: _count(name, text) for name, text in said.items() if text is not None}


def _count(name: str, text: str) -> int | None:
    if text == UNLIMITED:
        return None
    if not text.isascii() or not text.isdigit():
        raise Failure(Exit.USAGE, f"{name}: write a number or `{UNLIMITED}`.")
    return int(text)
