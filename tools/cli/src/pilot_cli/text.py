"""Words from elsewhere, made safe to show: nothing that moves a terminal's cursor, nothing that breaks a line."""

import re
from typing import Any

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(value: Any) -> str:
    """One line of text; nothing for None, yes and no for booleans."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(plain(one) for one in value)
    return _CONTROLS.sub(" ", str(value))


def lines(value: str) -> str:
    """Several lines of text, as `plain` otherwise."""
    return "\n".join(plain(line) for line in value.split("\n"))
