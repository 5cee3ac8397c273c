"""Buttons and lists written out as numbered text: what is sent where taps do not show, and how either is recognised."""

from collections.abc import Sequence
from typing import assert_never

from contracts.parts import Button, Buttons, CallButton, CopyButton, ListMenu, ReplyButton, Row, UrlButton

Choice = tuple[str, str]
"""What a choice is called, and what it does or means, if that needs saying."""


def plain_text(text: str, part: Buttons | ListMenu) -> str:
    """The message as text alone: title in bold, body, numbered choices, footer. The same input gives the same text."""
    head = headed(part.title, text)
    match part:
        case Buttons():
            return written_out(head, [("", [_of_button(button) for button in part.buttons])], part.footer)
        case ListMenu():
            groups = [(section.title, [_of_row(row) for row in section.rows]) for section in part.sections]
            return written_out(head, groups, part.footer)
    assert_never(part)


def headed(title: str | None, text: str) -> str:
    """The words above the choices."""
    return f"*{title}*\n\n{text.strip()}" if title else text.strip()


def written_out(head: str, groups: Sequence[tuple[str, Sequence[Choice]]], footer: str | None) -> str:
    """Groups of choices under their titles, numbered throughout, so that a reply can name one by its number."""
    blocks, number = [head.strip()], 0
    for title, choices in groups:
        lines = [f"*{title}*"] if title else []
        for label, meaning in choices:
            number += 1
            lines.append(f"{number}. {label}: {meaning}" if meaning else f"{number}. {label}")
        blocks.append("\n".join(lines))
    return "\n\n".join([block for block in [*blocks, footer or ""] if block])


def _of_button(button: Button) -> Choice:
    match button:
        case ReplyButton():
            return button.label, ""
        case UrlButton():
            return button.label, button.url
        case CallButton():
            return button.label, button.phone_number
        case CopyButton():
            return button.label, button.copy_code
    assert_never(button)


def _of_row(row: Row) -> Choice:
    return row.title, row.description or ""
