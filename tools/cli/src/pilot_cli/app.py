"""The tree of commands, and what is common to all of them."""

from importlib.metadata import version
from typing import Annotated

import typer

from pilot_cli.commands import (
    audit,
    dead_letters,
    keys,
    login,
    messages,
    numbers,
    operators,
    opt_ins,
    packages,
    people,
    plans,
    profile,
    projects,
    reconcile,
    sending,
    templates,
    tenants,
    watching,
    webhooks,
)
from pilot_cli.desk import Desk
from pilot_cli.settings import TIMEOUT_SECONDS

EPILOG = (
    "Exit codes: 0 done · 1 failed · 2 wrong usage or input · 3 not found · 4 refused or in conflict · "
    "5 not allowed · 6 unavailable, try later. "
    "Variables win over profiles: PILOT_URL, PILOT_OPERATOR_KEY, PILOT_API_KEY, PILOT_PROFILE."
)
NOUNS = (
    numbers,
    dead_letters,
    webhooks,
    reconcile,
    opt_ins,
    tenants,
    projects,
    keys,
    templates,
    plans,
    packages,
    people,
    operators,
    audit,
    profile,
)


def build() -> typer.Typer:
    """The whole command line."""
    root = typer.Typer(
        name="pilot",
        help="Operate the Pilot Status platform through its HTTP API; every change is logged there.",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    root.callback()(_before)
    for verbs in (login, sending, watching, messages):
        verbs.add_to(root)
    for noun in NOUNS:
        root.add_typer(noun.COMMANDS)
    return root


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("pilot-cli"))
        raise typer.Exit


def _before(
    context: typer.Context,
    profile: Annotated[str | None, typer.Option("--profile", "-p", help="The stored profile to use.")] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=600, help="Seconds to wait for each answer.")
    ] = TIMEOUT_SECONDS,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    desk = context.ensure_object(Desk)
    desk.named_profile, desk.timeout_seconds = profile, timeout
