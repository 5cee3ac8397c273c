"""The form of a send: one destination, one mode, strict types; everything else is refused by its field."""

from typing import Any

import pytest
from pydantic import ValidationError

from api.messages.schemas.batch import BatchBody
from api.messages.schemas.sending import SendBody
from api.refusals import Refusal, RefusedError

TO: dict[str, Any] = {"destinationNumber": "+5547991000000"}
LIST: dict[str, Any] = {
    "buttonText": "Abrir",
    "sections": [{"title": "Todos", "rows": [{"title": "Um", "rowId": "1"}]}],
}
BUTTONS: list[dict[str, Any]] = [{"type": "reply", "label": "Sim"}]
HEADER: dict[str, Any] = {"type": "text", "content": "Loja"}
MEDIA = "https://loja.example/a.png"


def refused(body: dict[str, Any]) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        SendBody.model_validate(body).request()
    return raised.value


@pytest.mark.parametrize(
    "body",
    [
        {"text": "oi"},
        {"templateId": "t", "variables": {"nome": "Ana"}},
        {"templateId": "t", "media": MEDIA, "mediaType": "image"},
        {"media": MEDIA, "caption": "veja"},
        {"text": "oi", "buttons": BUTTONS, "header": HEADER, "footer": "fim"},
        {"text": "oi", "list": LIST},
        {"text": "oi", "media": None, "buttons": None, "list": None, "carousel": None, "groupId": None},
    ],
)
def test_one_mode_is_a_request(body: dict[str, Any]) -> None:
    request = SendBody.model_validate(TO | body).request()
    assert request.destination == "+5547991000000"
    assert (request.template is None) is ("templateId" not in body)


@pytest.mark.parametrize(
    ("body", "refusal", "field"),
    [
        ({"text": "oi"}, Refusal.DESTINATION_INVALID, "destinationNumber"),
        (TO | {"text": "oi", "groupId": "1@g.us"}, Refusal.DESTINATION_INVALID, "groupId"),
        (TO | {"text": "oi", "newsletterId": "1@newsletter"}, Refusal.DESTINATION_INVALID, "newsletterId"),
        ({"text": "oi", "groupId": "1@g.us"}, Refusal.MODE_NOT_SUPPORTED, "groupId"),
        (TO | {"text": "oi", "carousel": {}}, Refusal.MODE_NOT_SUPPORTED, "carousel"),
        (TO | {"text": "oi", "flow": {}}, Refusal.MODE_NOT_SUPPORTED, "flow"),
        (TO, Refusal.MODE_INVALID, "templateId"),
        (TO | {"list": LIST}, Refusal.MODE_INVALID, "templateId"),
        (TO | {"templateId": "t", "text": "oi"}, Refusal.MODE_INVALID, "text"),
        (TO | {"templateId": "t", "buttons": BUTTONS}, Refusal.MODE_INVALID, "buttons"),
        (TO | {"templateId": "t", "caption": "veja"}, Refusal.MODE_INVALID, "caption"),
        (TO | {"media": MEDIA, "text": "oi"}, Refusal.MODE_INVALID, "text"),
        (TO | {"media": MEDIA, "buttons": BUTTONS}, Refusal.MODE_INVALID, "buttons"),
        (TO | {"text": "oi", "list": LIST, "buttons": BUTTONS}, Refusal.MODE_INVALID, "buttons"),
        (TO | {"list": LIST, "templateId": "t"}, Refusal.MODE_INVALID, "templateId"),
        (TO | {"list": LIST, "media": MEDIA}, Refusal.MODE_INVALID, "media"),
        (TO | {"text": "oi", "header": HEADER}, Refusal.MODE_INVALID, "header"),
        (TO | {"text": "oi", "footer": "fim"}, Refusal.MODE_INVALID, "footer"),
        (TO | {"text": "oi", "caption": "veja"}, Refusal.MODE_INVALID, "caption"),
    ],
)
def test_everything_else_is_refused_by_field(body: dict[str, Any], refusal: Refusal, field: str) -> None:
    error = refused(body)
    assert (error.refusal, error.field) == (refusal, field)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("destinationNumber", True),
        ("destinationNumber", 5.547991e12),
        ("destinationNumber", ["+5547991000000"]),
        ("text", 5),
        ("urgent", "yes"),
        ("urgent", 1),
        ("variables", []),
        ("deliverAt", 1735689600),
        ("mediaType", "hologram"),
        ("labels", [str(n) for n in range(21)]),
        ("labels", ["a\nb"]),
        ("labels", [""]),
    ],
)
def test_types_and_sizes_are_strict(name: str, value: object) -> None:
    with pytest.raises(ValidationError) as raised:
        SendBody.model_validate(TO | {"text": "oi"} | {name: value})
    assert raised.value.errors()[0]["loc"][0] == name


def test_an_integer_is_its_digits() -> None:
    assert SendBody.model_validate({"destinationNumber": 5547991000000, "text": "oi"}).request().destination == (
        "5547991000000"
    )
    assert (
        len(SendBody.model_validate(TO | {"text": "oi", "labels": [str(n) for n in range(20)]}).request().labels) == 20
    )


def test_a_decimal_number_is_told_to_be_text() -> None:
    with pytest.raises(ValidationError) as raised:
        SendBody.model_validate({"destinationNumber": 5.547991e12, "text": "oi"})
    assert "as text" in raised.value.errors()[0]["msg"]


def test_a_batch_holds_one_to_five_hundred_messages() -> None:
    assert len(BatchBody.model_validate({"messages": [TO] * 500}).items()) == 500
    for messages in ([], [TO] * 501):
        with pytest.raises(ValidationError):
            BatchBody.model_validate({"messages": messages})
