"""The gateway's JSON-schema checks, worded as it words them; unknown properties pass."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Check = Callable[[str, Any], list[str]]

PRESENCES = ("unavailable", "available", "composing", "recording", "paused")


def problems(body: Mapping[str, Any], checks: Mapping[str, Check], required: Iterable[str] = ()) -> list[str]:
    """Wrong values first, in the schema's order, then what is missing."""
    wrong = [problem for name, check in checks.items() if name in body for problem in check(name, body[name])]
    missing = [f'instance requires property "{name}"' for name in required if name not in body]
    return wrong + missing


def number(name: str, value: Any) -> list[str]:
    return [] if isinstance(value, str) else ["Invalid format"]


def text(name: str, value: Any) -> list[str]:
    return [] if isinstance(value, str) else [f"{name} is not of a type(s) string"]


def boolean(name: str, value: Any) -> list[str]:
    return [] if isinstance(value, bool) else [f"{name} is not of a type(s) boolean"]


def milliseconds(name: str, value: Any) -> list[str]:
    """A JSON integer: 1.0 is one in JavaScript, true and "1" are not."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return [] if whole and not isinstance(value, bool) else ["Enter a value in milliseconds"]


def mapping(name: str, value: Any) -> list[str]:
    return [] if isinstance(value, dict) else [f"{name} is not of a type(s) object"]


def filled_text(name: str, value: Any) -> list[str]:
    """A text of at least one character; the gateway's own words stand for the rule's."""
    if value == "":
        return [f'The "{name.rpartition(".")[2]}" cannot be empty']
    return text(name, value)


def fields(name: str, value: Any, checks: Mapping[str, Check], required: Iterable[str]) -> list[str]:
    """An object inside the body."""
    if not isinstance(value, dict):
        return [f"{name} is not of a type(s) object"]
    wrong = [
        problem for each, check in checks.items() if each in value for problem in check(f"{name}.{each}", value[each])
    ]
    return wrong + [f'{name} requires property "{each}"' for each in required if each not in value]


def one_of(allowed: Iterable[str]) -> Check:
    words = tuple(allowed)

    def check(name: str, value: Any) -> list[str]:
        return [] if value in words else [f"{name} is not one of enum values: {','.join(words)}"]

    return check


def list_of(check: Check, *, at_least: int = 0, unique: bool = False) -> Check:
    def check_list(name: str, value: Any) -> list[str]:
        if not isinstance(value, list):
            return [f"{name} is not of a type(s) array"]
        found = [problem for index, item in enumerate(value) for problem in check(f"{name}[{index}]", item)]
        if len(value) < at_least:
            found.append(f"{name} does not meet minimum length of {at_least}")
        if unique and any(item in value[:index] for index, item in enumerate(value)):
            found.append(f"{name} contains duplicate item")
        return found

    return check_list


SEND_CHECKS: Mapping[str, Check] = {
    "number": number,
    "delay": milliseconds,
    "quoted": mapping,
    "everyOne": boolean,
    "mentioned": list_of(text, at_least=1, unique=True),
}
"""The fields that every send has."""
