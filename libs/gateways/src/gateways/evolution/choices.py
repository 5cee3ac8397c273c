"""Buttons and lists as Evolution's messages hold them, read back into the words they would be sent as without taps."""

import json
from collections.abc import Mapping

from contracts.plain_text import Choice, headed, written_out

_MEANINGS = ("url", "phone_number", "copy_code")
_PARAMETERS_CHARS_MAX = 8_192


def words_of_buttons(message: object) -> str | None:
    """An `interactiveMessage` written out; only its head if its buttons cannot be read; None if it has no words."""
    if not isinstance(message, Mapping):
        return None
    head = _text(message.get("body"), "text")
    if not head.strip():
        return None
    flow = message.get("nativeFlowMessage")
    buttons = flow.get("buttons") if isinstance(flow, Mapping) else None
    choices = [_button(button) for button in buttons] if isinstance(buttons, list) else []
    known = [choice for choice in choices if choice is not None]
    if not known or len(known) < len(choices):
        return head
    return written_out(head, [("", known)], _text(message.get("footer"), "text"))


def words_of_list(message: object) -> str | None:
    """A `listMessage` written out, as above; the label of its button is no part of it."""
    if not isinstance(message, Mapping):
        return None
    head = headed(_text(message, "title") or None, _text(message, "description"))
    if not head.strip():
        return None
    sections = message.get("sections")
    groups = [_section(section) for section in sections] if isinstance(sections, list) else []
    return written_out(head, groups, _text(message, "footerText")) if groups else head


def _button(button: object) -> Choice | None:
    written = _text(button, "buttonParamsJson")
    try:
        parameters: object = json.loads(written) if len(written) <= _PARAMETERS_CHARS_MAX else None
    except (ValueError, RecursionError):
        return None
    label = _text(parameters, "display_text")
    meaning = next((found for name in _MEANINGS if (found := _text(parameters, name))), "")
    return (label, meaning) if label else None


def _section(section: object) -> tuple[str, list[Choice]]:
    rows = section.get("rows") if isinstance(section, Mapping) else None
    choices = [(_text(row, "title"), _text(row, "description")) for row in rows] if isinstance(rows, list) else []
    return _text(section, "title"), choices


def _text(holder: object, name: str) -> str:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if isinstance(value, str) else ""
