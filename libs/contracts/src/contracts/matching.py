"""What is hashed so that two services can recognise the same recipient and text without seeing either."""

RECIPIENT_PURPOSE = "recipient"
"""Pepper purpose for `recipient_hash`; the value hashed is the gateway's canonical recipient key."""

TEXT_PURPOSE = "text"
"""Pepper purpose for `text_hash`; the value hashed is `text_key(text)`."""


def text_key(text: str) -> str:
    """The text as it is compared: gateways trim white space at both ends."""
    return text.strip()
