"""What the modules of nouns share: how a group of commands is made, and how a number is named."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import typer

from pilot_cli.client import Client
from pilot_cli.failures import Exit, Failure
from pilot_cli.screen import Column

NUMBERS_MAX = 10_000

Id = Annotated[UUID, typer.Argument(help="Its id.")]
TenantOption = Annotated[UUID | None, typer.Option("--tenant", help="Only of this tenant.")]
ProjectOption = Annotated[UUID | None, typer.Option("--project", help="Only of this project.")]
NumberName = Annotated[str, typer.Argument(help="A number's id, or the name of its instance.")]


def group(name: str, help: str) -> typer.Typer:
    """A noun."""
    return typer.Typer(name=name, help=help, no_args_is_help=True, rich_markup_mode="rich")


def given(**members: Any) -> Mapping[str, Any]:
    """A body of what was said; None was not said."""
    return {
        name: str(value) if isinstance(value, UUID) else value for name, value in members.items() if value is not None
    }


def must_change(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises `Failure` for a change without anything to change."""
    if not body:
        raise Failure(Exit.USAGE, "Say what to change; --help lists it.")
    return body


def is_uuid(text: str) -> bool:
    """Whether it is an id in any of its spellings."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def find_number(operator: Client, name: str) -> dict[str, Any]:
    """A number by id or by the name of its instance; raises `Failure` if there is none."""
    if is_uuid(name):
        return dict(operator.get("numbers", name))
    for page in operator.pages("numbers", rows_max=NUMBERS_MAX):
        for number in page.rows:
            if number["instance"] == name:
                return dict(number)
    raise Failure(Exit.NOT_FOUND, f"There is no number with the instance {name!r}.")


def number_id(operator: Client, name: str) -> str:
    """The id of a number that is named by id or instance."""
    return name if is_uuid(name) else str(find_number(operator, name)["id"])


def columns(**titles: str) -> tuple[Column, ...]:
    """Titles and members, in order; an underscore in a title is a space."""
    return tuple((title.replace("_", " "), where) for title, where in titles.items())
