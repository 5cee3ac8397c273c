"""What is hashed so that two services can recognise the same recipient and text without seeing either."""

import hashlib
import re
from typing import assert_never

from contracts.parts import Buttons, ListMenu, Media
from contracts.values import MessageContent

RECIPIENT_PURPOSE = "recipient"
"""Pepper purpose for `recipient_hash`; the value hashed is the gateway's canonical recipient key."""

TEXT_PURPOSE = "text"
"""Pepper purpose for `text_hash`; the value hashed is `text_key(text_of(content))`."""

_LINK = re.compile(r"https?://\S", re.IGNORECASE)


def text_key(text: str) -> str:
    """The text as it is compared: gateways trim white space at both ends."""
    return text.strip()


def text_of(content: MessageContent) -> str:
    """The words by which a content is recognised: text, caption, title and body; the file's digest if it has none."""
    match content.part:
        case None | ListMenu():
            return content.text
        case Buttons(title=title):
            return line_key(title or "", content.text)
        case Media() as media:
            return content.text if content.text.strip() else f"media:{media.media_type}:{_digest(media)}"
    assert_never(content.part)


def line_key(*texts: str) -> str:
    """Texts as one, without blank lines: a gateway may set a title apart, or make one of the first line."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def leaves_a_trace(content: MessageContent) -> bool:
    """Whether the gateway's own record of this content can be told from another's: a file without words cannot.

    Where it is False, finding nothing proves nothing: any wordless message to the same person may be this one.
    """
    return not isinstance(content.part, Media) or bool(content.text.strip())


def holds_link(content: MessageContent) -> bool:
    """Whether a plain text deserves the preview of an address."""
    return content.part is None and _LINK.search(content.text) is not None


def _digest(media: Media) -> str:
    return hashlib.sha256(media.inline or media.media.encode()).hexdigest()
