"""`pilot login`: stores an address and its keys, after trying them."""

from typing import Annotated

import typer

from pilot_cli import profiles
from pilot_cli.client import Client
from pilot_cli.desk import Desk, desk_of, open_http
from pilot_cli.failures import Exit, Failure
from pilot_cli.profiles import DEFAULT, Profile, check_url

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def add_to(root: typer.Typer) -> None:
    """The verb itself."""
    root.command("login", rich_help_panel="Getting started")(login)


def login(
    context: typer.Context,
    url: Annotated[str | None, typer.Option("--url", help="The API's address, like https://api.example.com.")] = None,
    api_key: Annotated[bool, typer.Option("--api-key", help="Also store a customer's API key, for `send`.")] = False,
    only_api_key: Annotated[bool, typer.Option("--only-api-key", help="Store no operator key.")] = False,
) -> None:
    """Store a platform's address and keys as a profile (see --profile), and try them.

    Keys are asked for, or read from stdin line by line (the operator's first), never taken from the command line, where
    others can see them. They are kept in $XDG_CONFIG_HOME/pilot/profiles.json, which only you can read.
    """
    desk = desk_of(context)
    name = profiles.check_name(desk.named_profile or desk.environment.profile or DEFAULT)
    stored = desk.stored
    known = stored.known.get(name)
    address = url or desk.environment.url or (known.url if known else None)
    if address is None:
        raise Failure(Exit.USAGE, "Which platform? Give --url.")
    _warn(desk, address)
    profile = Profile(
        url=address.rstrip("/"),
        operator_key=None if only_api_key else desk.secret("Operator key"),
        api_key=desk.secret("API key") if api_key or only_api_key else None,
    )
    _try(desk, profile)
    profiles.save(desk.environment.profiles_path, stored.with_profile(name, profile))
    desk.screen.line(f"Logged in to {profile.url} as profile {name}.")


def _warn(desk: Desk, address: str) -> None:
    parts = check_url(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        desk.screen.note("Beware: over http others on the way can read your keys.")


def _try(desk: Desk, profile: Profile) -> None:
    with open_http(profile.url, desk.timeout_seconds) as http:
        if profile.operator_key is not None:
            Client(http, base="/v1/admin", headers={"x-operator-key": profile.operator_key}).get("tenants", limit=1)
        if profile.api_key is not None:
            Client(http, base="/v1", headers={"x-api-key": profile.api_key}).get("api-keys")
