"""What is hashed so that two services can recognise the same recipient and text without seeing either."""

import hashlib
import re
from typing import assert_never

from contracts.parts import Buttons, ListMenu, Media
from contracts.plain_text import headed, plain_text
from contracts.values import MessageContent

RECIPIENT_PURPOSE = "recipient"
"""Pepper purpose for `recipient_hash`; the value hashed is the gateway's canonical recipient key."""

TEXT_PURPOSE = "text"
"""Pepper purpose for `text_hash`; the value hashed is `text_key(text_of(content))`."""

_LINK = re.compile(r"https?://\S", re.IGNORECASE)


def text_key(text: str) -> str:
    """The text as it is compared: without outer white space, blank lines and the bold marks of its first line.

    Gateways trim, set a title apart, or make a title of the first line; none of it makes another message.
    """
    lines = [line for each in text.splitlines() if (line := each.strip())]
    return "\n".join([lines[0].strip("*").strip() or lines[0], *lines[1:]]) if lines else ""


def text_of(content: MessageContent) -> str:
    """The words by which a content is recognised: its text, buttons and lists written out; a wordless file's digest."""
    match content.part:
        case None:
            return content.text
        case Buttons() | ListMenu() as part:
            return plain_text(content.text, part)
        case Media() as media:
            return content.text if content.text.strip() else f"media:{media.media_type}:{_digest(media)}"
    assert_never(content.part)


def text_keys(content: MessageContent) -> frozenset[str]:
    """Every key under which a gateway may be found to remember it: whole, or the head of choices that cannot be read.

    For whoever holds the content in the clear; a hash is of `text_key(text_of(content))` alone.
    """
    match content.part:
        case Buttons() | ListMenu() as part:
            return frozenset({text_key(text_of(content)), text_key(headed(part.title, content.text))})
        case None | Media():
            return frozenset({text_key(text_of(content))})
    assert_never(content.part)


def leaves_a_trace(content: MessageContent) -> bool:
    """Whether the gateway's own record of this content can be told from another's: a file without words cannot.

    Where it is False, finding nothing proves nothing: any wordless message to the same person may be this one.
    """
    return not isinstance(content.part, Media) or bool(content.text.strip())


def holds_link(content: MessageContent) -> bool:
    """Whether a plain text deserves the preview of an address."""
    return content.part is None and names_link(content.text)


def names_link(text: str) -> bool:
    """Whether a text names an address that a preview could be shown of."""
    return _LINK.search(text) is not None


def _digest(media: Media) -> str:
    return hashlib.sha256(media.inline or media.media.encode()).hexdigest()
