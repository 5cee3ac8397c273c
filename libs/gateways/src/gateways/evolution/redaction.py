"""What may be kept of a gateway's words: a short, single line in which nobody can be recognised."""

import re

DETAIL_CHARS_MAX = 200
_SNIPPET_CHARS_MAX = 1_000
# Six digits or more, also with the punctuation people put between them, may be a phone number or a code.
_LONG_NUMBER = re.compile(r"\d(?:[\s().+-]{0,3}\d){5,}")
_WORD = re.compile(r"[^\W\d_]{3,}")
_HIDDEN = "***"


def redact(text: str, *, private: str = "") -> str:
    """The first line of `text`, long numbers masked, and every word that also occurs in `private` hidden."""
    line = next((part for part in text[:_SNIPPET_CHARS_MAX].splitlines() if part.strip()), "").strip()
    masked = _LONG_NUMBER.sub("#", line)
    haystack = private.lower()
    hidden = _WORD.sub(lambda word: _HIDDEN if word[0].lower() in haystack else word[0], masked)
    printable = "".join(char if char.isprintable() else "?" for char in hidden)
    return printable[:DETAIL_CHARS_MAX]
