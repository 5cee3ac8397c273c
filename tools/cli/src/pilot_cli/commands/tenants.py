"""`pilot tenants`: the platform's customers."""

from typing import Annotated
from uuid import UUID

import typer

from pilot_cli.commands.nouns import Id, columns, given, group, must_change
from pilot_cli.desk import After, AsJson, Limit, Yes, desk_of

COMMANDS = group("tenants", "The platform's customers.")
COLUMNS = columns(
    id="id", name="name", plan="planId", weight="weight", timezone="timezone", country="defaultCountry",
    created="createdAt",
)  # fmt: skip

Plan = Annotated[UUID | None, typer.Option("--plan", help="Its plan.")]
Weight = Annotated[int | None, typer.Option("--weight", min=1, max=100, help="Its share of numbers it shares.")]
Timezone = Annotated[str | None, typer.Option("--timezone", help="Where its days begin, like America/Sao_Paulo.")]
Country = Annotated[str | None, typer.Option("--country", help="Of numbers without a country code, like BR.")]


@COMMANDS.command("list")
def list_tenants(
    context: typer.Context,
    plan: Annotated[UUID | None, typer.Option("--plan", help="Only with this plan.")] = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Tenants, newest first."""
    desk = desk_of(context, as_json=as_json)
    desk.show_list(desk.operator().pages("tenants", rows_max=limit, cursor=cursor, planId=plan), COLUMNS)


@COMMANDS.command("get")
def get_tenant(context: typer.Context, tenant: Id, as_json: AsJson = False) -> None:
    """One tenant."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().get("tenants", str(tenant)), COLUMNS)


@COMMANDS.command("create")
def create_tenant(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", help="What it is called.")],
    plan: Plan = None,
    weight: Weight = None,
    timezone: Timezone = None,
    country: Country = None,
    as_json: AsJson = False,
) -> None:
    """Create a tenant; without a plan it has no limits."""
    desk = desk_of(context, as_json=as_json)
    body = given(name=name, planId=plan, weight=weight, timezone=timezone, defaultCountry=country)
    desk.show(desk.operator().post("tenants", body=body), COLUMNS)


@COMMANDS.command("change")
def change_tenant(
    context: typer.Context,
    tenant: Id,
    name: Annotated[str | None, typer.Option("--name", help="What it is called.")] = None,
    plan: Plan = None,
    no_plan: Annotated[bool, typer.Option("--no-plan", help="Take the plan away, and every limit with it.")] = False,
    weight: Weight = None,
    timezone: Timezone = None,
    country: Country = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Change a tenant; what is not said stays."""
    desk = desk_of(context, as_json=as_json)
    body = dict(given(name=name, planId=plan, weight=weight, timezone=timezone, defaultCountry=country))
    if no_plan:
        desk.confirm("Take away its plan, and with it every limit?", yes=yes)
        body["planId"] = None
    desk.show(desk.operator().call("PATCH", "tenants", str(tenant), body=must_change(body)), COLUMNS)
