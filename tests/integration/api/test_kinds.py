"""What each kind of message becomes: the row's kind and, sealed, what the dispatcher will send."""

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from chassis.seal import KeyRing
from contracts.parts import Buttons, ListMenu, Media
from contracts.values import ConnectionState, MessageContent

from .running import SEAL_KEYS, RunningApi, code_of

PICTURE = "https://example.org/a.png"
HEADER = {"type": "text", "content": "Pedido"}
LIST = {
    "buttonText": "Abrir",
    "sections": [{"title": "Todos", "rows": [{"title": "Um", "description": None, "rowId": "1"}]}],
}


async def content_of(api: RunningApi, answer: httpx.Response) -> MessageContent:
    assert answer.status_code == 202, answer.text
    message_id = UUID(answer.json()["id"])
    (row,) = await api.rows("SELECT sealed, kind FROM api.messages WHERE id = $1", message_id)
    content = MessageContent.model_validate_json(KeyRing.parse(SEAL_KEYS).open(row["sealed"], aad=message_id.bytes))
    assert row["kind"] == content.kind
    return content


async def test_media_with_the_sdks_default(api: RunningApi) -> None:
    account = await api.account()
    sdk: dict[str, Any] = {"variables": {}, "text": None, "media": PICTURE, "mediaType": "image"}
    content = await content_of(api, await api.send(account.key, **sdk))
    assert isinstance(content.part, Media)
    assert (content.part.media_type, content.part.url, content.text) == ("image", PICTURE, "")
    captioned = await content_of(api, await api.send(account.key, text=None, media=PICTURE, caption="veja"))
    assert captioned.text == "veja"


async def test_null_media_with_a_media_type_is_no_media(api: RunningApi) -> None:
    account = await api.account()
    assert (await content_of(api, await api.send(account.key, media=None, mediaType="image"))).kind == "text"


@pytest.mark.parametrize("media_type", ["video", "document", "audio", "voice", "sticker"])
async def test_every_media_type(api: RunningApi, media_type: str) -> None:
    account = await api.account()
    content = await content_of(api, await api.send(account.key, text=None, media=PICTURE, mediaType=media_type))
    assert isinstance(content.part, Media)
    assert content.part.media_type == media_type


async def test_buttons_with_header_and_footer(api: RunningApi) -> None:
    account = await api.account()
    buttons = [{"type": "reply", "label": label, "url": None} for label in ("Sim", "Não", "Talvez")]
    content = await content_of(api, await api.send(account.key, buttons=buttons, header=HEADER, footer="Loja"))
    assert isinstance(content.part, Buttons)
    assert (content.part.title, content.part.footer) == ("Pedido", "Loja")
    assert [button.label for button in content.part.buttons] == ["Sim", "Não", "Talvez"]


async def test_a_list(api: RunningApi) -> None:
    account = await api.account()
    content = await content_of(api, await api.send(account.key, list=LIST))
    assert isinstance(content.part, ListMenu)
    assert content.part.sections[0].rows[0].row_id == "1"


async def test_a_template_of_buttons_is_rendered_whole(api: RunningApi) -> None:
    account = await api.account()
    body = {
        "header": HEADER,
        "body": "Oi {{nome}}",
        "footer": "Até {{quando}}",
        "buttons": [{"type": "URL", "label": "Ver {{pedido}}", "url": "https://example.org/{{pedido}}"}],
        "defaults": {"quando": "logo"},
    }
    template = await api.template(account, body="x")
    await api.rows(
        "UPDATE api.template_versions SET body = $1 WHERE template_id = $2", json.dumps(body), UUID(template["id"])
    )
    values = {"nome": "{{pedido}}", "pedido": 7}
    content = await content_of(api, await api.send(account.key, templateId=template["id"], variables=values))
    assert isinstance(content.part, Buttons)
    assert (content.text, content.part.footer) == ("Oi {{pedido}}", "Até logo")
    assert content.part.buttons[0].label == "Ver 7"
    long = {"nome": "Ana", "pedido": "x" * 20}
    refused = await api.send(account.key, templateId=template["id"], variables=long)
    assert code_of(refused) == (400, "CONTENT_INVALID")
    assert refused.json()["details"][0]["field"] == "buttons[0].label"


async def test_media_beside_a_template_is_its_file(api: RunningApi) -> None:
    account = await api.account()
    template = await api.template(account, body="Oi {{nome}}")
    sent = await api.send(account.key, templateId=template["id"], variables={"nome": "Ana"}, media=PICTURE)
    content = await content_of(api, sent)
    assert isinstance(content.part, Media)
    assert (content.part.url, content.text) == (PICTURE, "Oi Ana")


async def test_labels_are_kept_and_harmless_fields_ignored(api: RunningApi) -> None:
    account = await api.account()
    answer = await api.send(
        account.key, labels=["natal", "vip", "natal"], markRead=True, marketingOptions={"aiRewriteEnabled": True}
    )
    (row,) = await api.rows("SELECT labels FROM api.messages WHERE id = $1", UUID(answer.json()["id"]))
    assert row["labels"] == ["natal", "vip"]


async def test_case_19_an_integer_is_its_digits(api: RunningApi) -> None:
    account = await api.account()
    content = await content_of(api, await api.send(account.key, destinationNumber=5547991000000))
    assert content.to == "5547991000000"


@pytest.mark.parametrize("value", [["a"], {"a": 1}, True, False])
async def test_case_23_a_wrong_type_is_named(api: RunningApi, value: Any) -> None:
    account = await api.account()
    template = await api.template(account, body="Oi {{nome}}")
    answer = await api.send(account.key, templateId=template["id"], variables={"nome": value})
    assert code_of(answer) == (400, "VARIABLE_INVALID")
    assert answer.json()["details"][0]["field"] == "variables.nome"


async def test_a_relay_only_number_keeps_no_content(api: RunningApi) -> None:
    number = await api.number(state=ConnectionState.OPEN)
    await api.rows("UPDATE api.numbers SET pii_mode = 'RELAY_ONLY' WHERE id = $1", UUID(number["id"]))
    account = await api.account(number_id=number["id"])
    answer = await api.send(account.key)
    (row,) = await api.rows("SELECT sealed FROM api.messages WHERE id = $1", UUID(answer.json()["id"]))
    assert row["sealed"] is None
