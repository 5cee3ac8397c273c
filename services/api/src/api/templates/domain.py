"""The template grammar: `{{name}}`, filled in one pass, values inert."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from api.refusals import Refusal, RefusedError
from contracts.values import Category, Environment

PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template with its latest approved version; `body` is None if it has none."""

    template_id: UUID
    name: str
    category: Category
    body: str | None
    production_approved: bool


def body_to_send(template: Template | None, environment: Environment) -> str:
    """The text to fill in; raises for an unknown template, one without approval, or one not approved for LIVE."""
    if template is None:
        raise RefusedError(Refusal.TEMPLATE_NOT_FOUND, field="templateId")
    if template.body is None:
        raise RefusedError(Refusal.NO_APPROVED_VERSION, field="templateId")
    if environment is Environment.LIVE and not template.production_approved:
        raise RefusedError(Refusal.TEMPLATE_NOT_APPROVED_FOR_PRODUCTION, field="templateId")
    return template.body


def variables_of(body: str) -> tuple[str, ...]:
    """The names a body asks for, in order of appearance."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(body)))


def render(body: str, values: Mapping[str, str | int | float | bool | None]) -> str:
    """`body` with every placeholder replaced once; a placeholder inside a value stays as it is.

    Missing, null and blank values are refused by name; so is a boolean, which no reader would expect to see.
    """
    texts = {name: _text(values.get(name)) for name in variables_of(body)}
    missing = [name for name, text in texts.items() if text is None or not text.strip()]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise RefusedError(
            Refusal.MISSING_TEMPLATE_VARIABLES, f"Template variables without a value: {names}.", field="variables"
        )
    return PLACEHOLDER.sub(lambda match: texts[match[1]] or "", body)


def _text(value: str | int | float | bool | None) -> str | None:
    return None if value is None or isinstance(value, bool) else str(value)
