"""`pilot send`: one message, as a customer sends it."""

import sys
from typing import Annotated, Any
from uuid import uuid4

import typer

from pilot_cli.commands.nouns import columns, given
from pilot_cli.commands.watching import follow
from pilot_cli.desk import AsJson, desk_of
from pilot_cli.failures import Exit, Failure

COLUMNS = columns(
    id="id", status="status", from_number="origin", correlation="correlationId", leaves_about="estimatedDispatchAt"
)


def add_to(root: typer.Typer) -> None:
    """The verb itself."""
    root.command("send", rich_help_panel="Messages")(send)


def send(
    context: typer.Context,
    to: Annotated[str, typer.Option("--to", help="The recipient's phone number, like +5547991000000.")],
    text: Annotated[str | None, typer.Option("--text", help="The words; - reads them from stdin.")] = None,
    template: Annotated[str | None, typer.Option("--template", help="A template's name or id.")] = None,
    variables: Annotated[
        list[str] | None, typer.Option("--var", help="A variable of the template, as name=value; repeatable.")
    ] = None,
    media: Annotated[str | None, typer.Option("--media", help="The URL of a file.")] = None,
    caption: Annotated[str | None, typer.Option("--caption", help="Words below the file.")] = None,
    deliver_at: Annotated[str | None, typer.Option("--at", help="Not before, RFC 3339 with offset.")] = None,
    deliver_until: Annotated[str | None, typer.Option("--until", help="Never after, RFC 3339 with offset.")] = None,
    urgent: Annotated[bool, typer.Option("--urgent", help="Before others of its category.")] = False,
    labels: Annotated[list[str] | None, typer.Option("--label", help="Repeatable.")] = None,
    key: Annotated[
        str | None, typer.Option("--idempotency-key", help="Repeat a send with the same one and it is sent once.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Stay until it is READ; see `pilot watch`.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send one message with the profile's API key."""
    desk = desk_of(context, as_json=as_json)
    body = given(
        destinationNumber=to,
        text=sys.stdin.read() if text == "-" else text,
        templateId=template,
        variables=_variables(variables or []),
        media=media,
        caption=caption,
        deliverAt=deliver_at,
        deliverUntil=deliver_until,
        urgent=urgent or None,
        labels=labels or None,
    )
    customer, once = desk.customer(), key or f"pilot-{uuid4()}"
    try:
        accepted = customer.post("messages", "send", body=body, headers={"idempotency-key": once})
    except Failure as failure:
        if failure.exit_code is Exit.UNAVAILABLE:
            raise Failure(
                failure.exit_code,
                f"{failure.sentence} Whether it was accepted is not known: repeat with --idempotency-key {once}.",
            ) from None
        raise
    if as_json and watch:
        desk.screen.json(accepted, compact=True)
    else:
        desk.show(accepted, COLUMNS)
    if watch:
        follow(desk, [accepted["id"]], as_customer=True)


def _variables(pairs: list[str]) -> dict[str, Any] | None:
    split = [pair.partition("=") for pair in pairs]
    wrong = [name for name, equals, _ in split if not equals or not name]
    if wrong:
        raise Failure(Exit.USAGE, f"--var {wrong[0]}: write name=value.")
    return {name: value for name, _, value in split} or None
