"""`pilot profile`: the stored platforms, without their keys."""

from typing import Annotated

import typer

from pilot_cli import profiles
from pilot_cli.commands.nouns import columns, group
from pilot_cli.desk import AsJson, Yes, desk_of
from pilot_cli.profiles import Profiles

COMMANDS = group("profile", "Stored platforms and which of them is used.")
COLUMNS = columns(name="name", current="current", url="url", operator_key="operatorKey", api_key="apiKey")

Name = Annotated[str, typer.Argument(help="A profile.")]


@COMMANDS.command("list")
def list_profiles(context: typer.Context, as_json: AsJson = False) -> None:
    """Every profile; of keys only whether there is one."""
    desk = desk_of(context, as_json=as_json)
    rows = [
        {
            "name": name,
            "current": name == desk.stored.current,
            "url": profile.url,
            "operatorKey": profile.operator_key is not None,
            "apiKey": profile.api_key is not None,
        }
        for name, profile in sorted(desk.stored.known.items())
    ]
    if as_json:
        desk.screen.json(rows)
    else:
        desk.screen.rows(rows, COLUMNS)


@COMMANDS.command("use")
def use_profile(context: typer.Context, name: Name) -> None:
    """Make a profile the one that is used when none is named."""
    desk = desk_of(context)
    stored = desk.stored
    stored.must_have(name)
    profiles.save(desk.environment.profiles_path, Profiles(current=name, known=stored.known))
    desk.screen.line(f"Now using {name}.")


@COMMANDS.command("remove")
def remove_profile(context: typer.Context, name: Name, yes: Yes = False) -> None:
    """Forget a profile and its keys; the keys themselves stay valid."""
    desk = desk_of(context)
    stored = desk.stored
    stored.must_have(name)
    desk.confirm(f"Forget profile {name} and its keys?", yes=yes)
    profiles.save(desk.environment.profiles_path, stored.without(name))
    desk.screen.line(f"Forgot {name}.")
