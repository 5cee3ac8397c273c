"""The body of a template version: plain text, or an object with header, body, footer, buttons, media and defaults."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError
from pydantic.alias_generators import to_camel

from api.content.domain.draft import ButtonDraft, Draft, HeaderDraft, MediaDraft
from api.content.domain.finish import KIND_LIMITS
from api.content.domain.grammar import fill, resolve, strays_of, variables_of
from api.refusals import Refusal, RefusedError
from contracts.parts import REPLIES_MAX

BODY_CHARS_MAX = 20_000
BUTTONS_MAX = 10
BUTTONS_OF_A_KIND: Mapping[str, tuple[int, str]] = {
    "reply": (REPLIES_MAX, "More reply buttons are not shown by the WhatsApp gateway."),
    "url": (2, "A template has at most two links."),
    "call": (1, "A template has at most one number to call."),
    "copy": (1, "A template has at most one code to copy."),
}
"""The published contract allows ten replies; what cannot be shown is refused when it is saved, not when it is sent."""


class _Shape(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", hide_input_in_errors=True
    )


class _Media(_Shape):
    media: StrictStr = Field(min_length=1, max_length=2_048)
    media_type: Literal["image", "video", "document"]


class _Header(_Shape):
    type: Annotated[
        Literal["text", "image", "video", "document"], BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v)
    ]
    content: StrictStr = Field(min_length=1, max_length=2_048)


_BUTTON_TYPES = {"QUICK_REPLY": "reply", "URL": "url", "PHONE_NUMBER": "call", "COPY_CODE": "copy"}


class _Button(_Shape):
    type: Annotated[
        Literal["reply", "url", "call", "copy"],
        BeforeValidator(lambda v: _BUTTON_TYPES.get(v, v) if isinstance(v, str) else v),
    ]
    label: StrictStr = Field(min_length=1, max_length=100)
    url: StrictStr | None = Field(default=None, max_length=2_048)
    phone_number: StrictStr | None = Field(default=None, max_length=100)
    copy_code: StrictStr | None = Field(default=None, max_length=100)
    id: StrictStr | None = Field(default=None, max_length=256)


class _Body(_Shape):
    body: StrictStr = Field(min_length=1, max_length=4_096)
    header: _Header | None = None
    footer: StrictStr | None = Field(default=None, max_length=60)
    buttons: tuple[_Button, ...] | None = Field(default=None, max_length=BUTTONS_MAX)
    media: _Media | None = None
    defaults: dict[str, StrictStr] | None = Field(default=None, max_length=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What a template says, placeholders open, and the values it falls back on."""

    draft: Draft
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)

    def variables(self) -> tuple[str, ...]:
        """The names of its placeholders, in reading order."""
        return variables_of(*self.draft.texts())

    def fill(self, given: Mapping[str, object]) -> Draft:
        """The draft with every placeholder replaced; raises for missing values and for those of a wrong type."""
        texts = resolve(self.variables(), given, self.defaults)
        return self.draft.map(lambda text: fill(text, texts))


@lru_cache(maxsize=2_000)
def blueprint_of(body: str) -> Blueprint:
    """A stored body, which was checked when it was saved; what is no such object is plain text."""
    if not body.lstrip().startswith("{"):
        return Blueprint(draft=Draft(text=body))
    try:
        given = json.loads(body)
    except ValueError:
        return Blueprint(draft=Draft(text=body))
    if not isinstance(given, dict) or "body" not in given:
        return Blueprint(draft=Draft(text=body))
    return _blueprint(given)


def checked_blueprint(body: str | Mapping[str, object]) -> tuple[Blueprint, str]:
    """What a client wants to save, and the text to store; raises `RefusedError(TEMPLATE_INVALID)` naming the field."""
    stored = body if isinstance(body, str) else json.dumps(dict(body), ensure_ascii=False, separators=(",", ":"))
    if len(stored) > BODY_CHARS_MAX:
        raise _invalid("The template is too long.", "body")
    blueprint = blueprint_of(stored)
    texts = blueprint.draft.texts()
    if any(strays_of(text) for text in texts):
        raise _invalid("Braces are left that are no placeholder; a placeholder is `{{name}}`.", "body")
    if not blueprint.draft.text.strip():
        raise _invalid("The body is empty.", "body")
    unknown = sorted(set(blueprint.defaults) - set(blueprint.variables()))
    if unknown:
        raise _invalid("There are defaults for variables that the template does not have.", "body.defaults")
    _check_buttons(blueprint.draft.buttons)
    kind = "buttons" if blueprint.draft.buttons else "text"
    if len(blueprint.draft.text) > KIND_LIMITS[kind]:
        raise _invalid(f"The body may have {KIND_LIMITS[kind]} characters in a template of this kind.", "body.body")
    return blueprint, stored


def _check_buttons(buttons: Sequence[ButtonDraft]) -> None:
    for index, button in enumerate(buttons):
        most, sentence = BUTTONS_OF_A_KIND[button.type]
        if sum(other.type == button.type for other in buttons[: index + 1]) > most:
            raise _invalid(sentence, f"body.buttons.{index}")
    if len({button.type == "reply" for button in buttons}) > 1:
        raise _invalid("Reply buttons cannot stand beside others.", "body.buttons")


def _blueprint(given: Mapping[str, object]) -> Blueprint:
    try:
        shape = _Body.model_validate(given)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        raise _invalid("The template's body does not have the documented shape.", f"body.{where}") from None
    draft = Draft(
        text=shape.body,
        media=MediaDraft(media=shape.media.media, media_type=shape.media.media_type) if shape.media else None,
        header=HeaderDraft(type=shape.header.type, content=shape.header.content) if shape.header else None,
        footer=shape.footer,
        buttons=tuple(ButtonDraft(**button.model_dump()) for button in shape.buttons or ()),
    )
    return Blueprint(draft=draft, defaults=shape.defaults or {})


def _invalid(sentence: str, field: str) -> RefusedError:
    return RefusedError(Refusal.TEMPLATE_INVALID, sentence, field=field)
