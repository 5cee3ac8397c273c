"""The template grammar: `{{name}}`, filled in one pass, values inert; a template may declare defaults."""

import math
import re
from collections.abc import Iterable, Mapping

from api.refusals import Refusal, RefusedError

PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}")


def variables_of(*texts: str) -> tuple[str, ...]:
    """The names that texts ask for, in order of appearance."""
    return tuple(dict.fromkeys(name for text in texts for name in PLACEHOLDER.findall(text)))


def strays_of(text: str) -> bool:
    """Whether braces are left that look like a placeholder but are none: checked when a template is saved."""
    rest = PLACEHOLDER.sub("", text)
    return "{{" in rest or "}}" in rest


def resolve(names: Iterable[str], given: Mapping[str, object], defaults: Mapping[str, str]) -> dict[str, str]:
    """A text for each name: the value given, or the template's default if that is missing, null or blank.

    Raises `MISSING_TEMPLATE_VARIABLES` naming all that have neither, and `VARIABLE_INVALID` for a value that is no
    text and no number, or holds what cannot be sent.
    """
    texts = {name: _text(name, given.get(name)) or defaults.get(name, "") for name in names}
    missing = [name for name, text in texts.items() if not text.strip()]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        raise RefusedError(
            Refusal.MISSING_TEMPLATE_VARIABLES,
            f"Template variables without a value: {listed}.",
            field="variables",
            extras={"missing": missing},
        )
    return texts


def _text(name: str, value: object) -> str | None:
    if value is None:
        return None
    odd = isinstance(value, float) and not math.isfinite(value)
    if odd or isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RefusedError(
            Refusal.VARIABLE_INVALID, f"The variable `{name}` must be a text or a number.", field=f"variables.{name}"
        )
    text = str(value)
    if not is_sendable(text):
        sentence = f"The variable `{name}` holds NUL or half a surrogate pair."
        raise RefusedError(Refusal.VARIABLE_INVALID, sentence, field=f"variables.{name}")
    return text if text.strip() else None


def fill(text: str, texts: Mapping[str, str]) -> str:
    """`text` with every placeholder replaced once; a placeholder inside a value stays as it is."""
    return PLACEHOLDER.sub(lambda match: texts[match[1]], text)


def is_sendable(text: str) -> bool:
    """Neither NUL nor half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text
