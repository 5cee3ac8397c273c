"""The tree of commands as a whole: each explains itself, answers scripts, and asks before harm."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from pilot_cli.app import EPILOG, build
from pilot_cli.failures import Exit

HARMFUL = {
    "cancel",
    "reprocess",
    "numbers pause",
    "numbers default",
    "numbers pace",
    "dead-letters replay",
    "dead-letters discard",
    "webhooks replay",
    "webhooks enable",
    "opt-ins revoke",
    "tenants change",
    "projects change",
    "keys revoke",
    "templates reject",
    "templates release",
    "plans delete",
    "packages delete",
    "people remove",
    "operators revoke",
    "profile remove",
}
WITHOUT_JSON = {"login", "profile use", "profile remove"}
DANGEROUS_WORDS = ("revoke", "delete", "remove", "discard", "cancel", "pause", "replay", "reject")


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, child in getattr(command, "commands", {}).items():
        yield from leaves(child, (*path, name))
    if not hasattr(command, "commands"):
        yield " ".join(path), command


COMMANDS = dict(leaves(typer.main.get_command(build())))


def options_of(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_explained(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    silent = [parameter.name for parameter in command.params if not getattr(parameter, "help", None)]
    assert silent == []


def test_whatever_may_harm_asks_or_takes_yes() -> None:
    assert {name for name, command in COMMANDS.items() if "--yes" in options_of(command)} == HARMFUL
    sounds_harmful = {name for name in COMMANDS if name.split()[-1] in DANGEROUS_WORDS}
    assert sounds_harmful <= HARMFUL


def test_every_command_answers_scripts() -> None:
    assert {name for name, command in COMMANDS.items() if "--json" not in options_of(command)} == WITHOUT_JSON


def test_no_command_takes_a_key_as_an_argument() -> None:
    names = {option for command in COMMANDS.values() for option in options_of(command)}
    assert {name for name in names if name.startswith("--") and "key" in name} == {
        "--api-key",
        "--only-api-key",
        "--idempotency-key",
    }


def test_the_exit_codes_are_in_the_help() -> None:
    assert all(f" {int(code)} " in EPILOG for code in Exit)
