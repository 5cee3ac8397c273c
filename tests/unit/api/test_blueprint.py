"""Bodies of templates: plain text, or an object whose every text may hold placeholders."""

import json
from typing import Any

import pytest

from api.content.domain.blueprint import blueprint_of, checked_blueprint
from api.content.domain.finish import TEMPLATE_BUTTONS_MAX, finish
from api.refusals import Refusal, RefusedError
from contracts.parts import Buttons

WHOLE: dict[str, Any] = {
    "header": {"type": "TEXT", "content": "Pedido {{pedido}}"},
    "body": "Oi {{nome}}",
    "footer": "Loja {{loja}}",
    "buttons": [{"type": "URL", "label": "Ver {{pedido}}", "url": "https://example.org/{{codigo}}"}],
    "defaults": {"loja": "Centro"},
}


def refused(body: Any) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        checked_blueprint(body)
    assert raised.value.refusal is Refusal.TEMPLATE_INVALID
    return raised.value


def test_an_object_and_its_json_are_the_same_template() -> None:
    blueprint, stored = checked_blueprint(WHOLE)
    again, text = checked_blueprint(json.dumps(WHOLE))
    assert blueprint == again == blueprint_of(stored) == blueprint_of(text)
    assert blueprint.variables() == ("pedido", "nome", "loja", "codigo")


def test_every_text_of_an_object_is_filled_in() -> None:
    draft = blueprint_of(json.dumps(WHOLE)).fill({"pedido": 7, "nome": "{{loja}}", "codigo": "x9"})
    assert draft.header is not None
    assert (draft.header.type, draft.header.content) == ("text", "Pedido 7")
    assert (draft.text, draft.footer) == ("Oi {{loja}}", "Loja Centro")
    assert [(button.type, button.label, button.url) for button in draft.buttons] == [
        ("url", "Ver 7", "https://example.org/x9")
    ]


@pytest.mark.parametrize("text", ["Oi {{nome}}", "{{nome}}, oi", "{ não é json", '{"nem": "isto"}', "[1]"])
def test_anything_else_is_plain_text(text: str) -> None:
    assert blueprint_of(text).draft.text == text


@pytest.mark.parametrize("text", ["{{nome", "nome}}", "{{no me}}", "{{1}}", "{{}}", "{{{{nome}}}}"])
def test_stray_braces_are_refused_when_saved(text: str) -> None:
    refused(f"Oi {text}")
    refused({"body": "oi", "footer": text})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"body": 5}, "body.body"),
        ({"buttons": [{"type": "URL", "label": "x"}] * 4}, "body.buttons.2"),
        ({"buttons": [{"type": "nothing", "label": "x"}]}, "body.buttons.0.type"),
        ({"footer": "x" * 61}, "body.footer"),
        ({"defaults": {"nobody": "x"}}, "body.defaults"),
        ({"body": "x" * 1_025}, "body.body"),
        ({"body": "   "}, "body"),
    ],
)
def test_a_bad_object_is_refused_by_field(change: dict[str, Any], field: str) -> None:
    assert refused({**WHOLE, **change}).field == field


LINK = {"type": "URL", "label": "Abrir", "url": "https://example.org/{{id}}"}
CALL = {"type": "PHONE_NUMBER", "label": "Ligar", "phoneNumber": "+5547991000000"}
COPY = {"type": "COPY_CODE", "label": "Copiar", "copyCode": "ABC"}


def with_buttons(*buttons: dict[str, str]) -> dict[str, object]:
    named = [{**button, "label": f"{button['label']} {index}"} for index, button in enumerate(buttons)]
    return {"body": "Oi {{nome}}!", "buttons": named}


def test_a_template_may_have_two_links_a_call_and_a_code() -> None:
    blueprint, _ = checked_blueprint(with_buttons(LINK, LINK, CALL, COPY))
    draft = blueprint.fill({"nome": "Ana", "id": "7"})
    content = finish(draft, to="5547991000000", sender=None, buttons_max=TEMPLATE_BUTTONS_MAX)
    assert isinstance(content.part, Buttons)
    assert [button.type for button in content.part.buttons] == ["url", "url", "call", "copy"]
    with pytest.raises(RefusedError) as freely:
        finish(draft, to="5547991000000", sender=None)
    assert (freely.value.refusal, freely.value.field) == (Refusal.CONTENT_INVALID, "buttons")


@pytest.mark.parametrize(
    ("buttons", "field"),
    [
        ([{"type": "QUICK_REPLY", "label": "Sim"}] * 4, "body.buttons.3"),
        ([LINK] * 3, "body.buttons.2"),
        ([LINK, CALL, CALL], "body.buttons.2"),
        ([COPY, COPY], "body.buttons.1"),
        ([{"type": "QUICK_REPLY", "label": "Sim"}, LINK], "body.buttons"),
        ([{"type": "QUICK_REPLY", "label": "Sim"}] * 11, "body.buttons"),
    ],
)
def test_buttons_that_cannot_be_shown_are_refused_when_they_are_saved(
    buttons: list[dict[str, str]], field: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        checked_blueprint(with_buttons(*buttons))
    assert (refused.value.refusal, refused.value.field) == (Refusal.TEMPLATE_INVALID, field)
