"""`pilot numbers`: which there are, how their lanes are doing, and the hands on them."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from pilot_cli.client import Client
from pilot_cli.commands.nouns import (
    NUMBERS_MAX,
    NumberName,
    TenantOption,
    columns,
    find_number,
    given,
    group,
    number_id,
)
from pilot_cli.desk import After, AsJson, Desk, Limit, Yes, desk_of
from pilot_cli.failures import Exit, Failure
from pilot_cli.screen import Column, table_of

COMMANDS = group("numbers", "Numbers that send, and their lanes.")
COLUMNS = columns(
    id="id", instance="instance", name="displayName", state="state", paused="paused", default="platformDefault",
    tenant="tenantId",
)  # fmt: skip
PROBED = columns(id="id", gateway_says="state", stale="stale", checked="checkedAt", last_known="lastKnownAt")


def _total(member: str) -> Any:
    def count(row: Any) -> Any:
        parts = row["lane"].get("categories")
        return None if parts is None else sum(part[member] for part in parts)

    return count


def _why(row: Any) -> str:
    lane = row["lane"]
    if "problem" in lane:
        return str(lane["problem"])
    if not lane["known"]:
        return "the dispatcher has not heard of it"
    held = {"sends fail": lane["sendsFail"], "first contacts held": lane["firstContactsHeldUntil"]}
    silent = {"nothing acknowledged": lane["unacknowledgedSince"], lane["reason"] or "": lane["reason"]}
    return ", ".join(name for name, is_so in {**held, **silent}.items() if is_so)


LANES: tuple[Column, ...] = (
    ("instance", "instance"),
    ("state", "lane.state"),
    ("paused", "lane.paused"),
    ("ready", _total("ready")),
    ("scheduled", _total("scheduled")),
    ("in flight", "lane.inFlight"),
    ("uncertain", "lane.uncertain"),
    ("sent last hour", "lane.sentLastHour"),
    ("next probe", "lane.nextProbeAt"),
    ("why", _why),
)
DEPTHS = columns(
    category="category", ready="ready", scheduled="scheduled", oldest_due="oldestDueAt", next_slot="nextSlotAt",
    per_hour="allowedPerHour",
)  # fmt: skip


@COMMANDS.command("list")
def list_numbers(
    context: typer.Context,
    tenant: TenantOption = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Numbers, newest first."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("numbers", rows_max=limit, cursor=cursor, tenantId=tenant), COLUMNS)


@COMMANDS.command("get")
def get_number(context: typer.Context, number: NumberName, as_json: AsJson = False) -> None:
    """One number and its connection."""
    desk = desk_of(context, as_json=as_json)
    desk.show(find_number(desk.operator(), number), (*COLUMNS, ("phone", "phone"), ("pacing", "pacing")))


@COMMANDS.command("register")
def register_number(
    context: typer.Context,
    instance: Annotated[str, typer.Option("--instance", help="The instance's name at its gateway.")],
    gateway: Annotated[str, typer.Option("--gateway", help="The gateway's address.")],
    tenant: Annotated[UUID | None, typer.Option("--tenant", help="Whose; the platform's if not said.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="What recipients know it as.")] = None,
    phone: Annotated[str | None, typer.Option("--phone", help="Its phone number.")] = None,
    as_json: AsJson = False,
) -> None:
    """Register a number that exists as an instance at its gateway.

    The instance's key is asked for, or read from stdin.
    """
    desk = desk_of(context, as_json=as_json)
    body = given(instance=instance, tenantId=tenant, displayName=name, phone=phone, gatewayUrl=gateway)
    key = desk.secret("The instance's key")
    registered = desk.operator().post("numbers", body={**body, "gatewayApiKey": key})
    desk.show(registered, (*COLUMNS, *columns(queue_declared="laneDeclared", webhook_set="webhookConfigured")))


@COMMANDS.command("lanes")
def show_lanes(
    context: typer.Context,
    numbers: Annotated[list[str] | None, typer.Argument(help="Ids or instances; all of them if none is named.")] = None,
    tenant: TenantOption = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on until Ctrl-C, live.")] = False,
    every: Annotated[float, typer.Option("--every", min=0.2, max=600, help="Seconds between looks.")] = 2.0,
    as_json: AsJson = False,
) -> None:
    """What waits on each number and whether it can send, as the dispatcher sees it this moment.

    Exit code 6 if the dispatcher does not answer.
    """
    desk = desk_of(context, as_json=as_json)
    operator = desk.operator()
    if watch:
        _live(desk, operator, numbers or [], tenant, every)
        return
    lanes = _lanes(desk, operator, numbers or [], tenant)
    if as_json:
        desk.screen.json({"items": lanes})
    else:
        desk.screen.rows(lanes, LANES)
        if len(lanes) == 1 and lanes[0]["lane"].get("categories"):
            desk.screen.rows(lanes[0]["lane"]["categories"], DEPTHS)
    silent = [lane for lane in lanes if "problem" in lane["lane"]]
    if silent:
        raise Failure(Exit.UNAVAILABLE, f"{len(silent)} of {len(lanes)} lanes were not described.")


def _lanes(desk: Desk, operator: Client, names: Sequence[str], tenant: Any) -> list[dict[str, Any]]:
    chosen = [find_number(operator, name) for name in names] or [
        number for page in operator.pages("numbers", rows_max=NUMBERS_MAX, tenantId=tenant) for number in page.rows
    ]
    results = desk.each("asking", chosen, lambda number: operator.get("numbers", number["id"], "lane"))
    return [
        {
            "id": number["id"],
            "instance": number["instance"],
            "lane": {"known": False, "problem": lane.sentence} if isinstance(lane, Failure) else lane,
        }
        for number, lane in results
    ]


def _live(desk: Desk, operator: Client, names: Sequence[str], tenant: Any, every: float) -> None:
    if not desk.screen.is_live:
        while True:
            for lane in _lanes(desk, operator, names, tenant):
                desk.screen.json(lane, compact=True)
            time.sleep(every)
    with desk.screen.live() as live:
        while True:
            live.update(table_of(_lanes(desk, operator, names, tenant), LANES))
            time.sleep(every)


@COMMANDS.command("pause")
def pause_number(context: typer.Context, number: NumberName, yes: Yes = False, as_json: AsJson = False) -> None:
    """Stop sending from a number; its messages wait, and run out at their deadlines."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Stop all sending from {number}?", yes=yes)
    _act(desk, number, "pause")


@COMMANDS.command("resume")
def resume_number(context: typer.Context, number: NumberName, as_json: AsJson = False) -> None:
    """Send from a number again."""
    _act(desk_of(context, as_json=as_json), number, "resume")


@COMMANDS.command("default")
def make_default(context: typer.Context, number: NumberName, yes: Yes = False, as_json: AsJson = False) -> None:
    """Make a number the platform's default, in place of the former one."""
    desk = desk_of(context, as_json=as_json)
    desk.confirm(f"Send for every key without a number from {number}?", yes=yes)
    _act(desk, number, "default")


def _act(desk: Desk, number: str, verb: str) -> None:
    operator = desk.operator()
    desk.show(operator.post("numbers", number_id(operator, number), verb), COLUMNS)


@COMMANDS.command("probe")
def probe_number(context: typer.Context, number: NumberName, as_json: AsJson = False) -> None:
    """Ask the gateway for the connection right now, beside what the dispatcher believes.

    It opens no lane: a gateway may say OPEN while sends fail. The dispatcher looks again at `next probe` by itself.
    """
    desk = desk_of(context, as_json=as_json)
    operator = desk.operator()
    chosen = number_id(operator, number)
    seen = operator.get("numbers", chosen, "status")
    if as_json:
        desk.screen.json(seen)
        return
    desk.screen.record(seen, PROBED)
    try:
        lane = operator.get("numbers", chosen, "lane")
    except Failure as failure:
        desk.screen.note(f"The dispatcher was not heard: {failure.sentence}")
        return
    believed = columns(dispatcher_believes="state", because="reason", sends_fail="sendsFail", next_probe="nextProbeAt")
    desk.screen.record(lane, believed)


@COMMANDS.command("pace")
def pace_number(
    context: typer.Context,
    number: NumberName,
    policy: Annotated[Path, typer.Argument(help="A JSON file with the whole policy, as `get --json` shows it.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Replace how fast a number may send."""
    desk = desk_of(context, as_json=as_json)
    try:
        body = json.loads(policy.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Failure(Exit.USAGE, f"{policy} is not a readable JSON file.") from None
    desk.confirm(f"Replace the pacing of {number}?", yes=yes)
    operator = desk.operator()
    desk.show(operator.call("PUT", "numbers", number_id(operator, number), "pacing", body=body), COLUMNS)
