"""Files, buttons and lists: what the gateway makes of them, what it refuses, and what the ledger keeps."""

import base64
from typing import Any

import pytest

from evolution_simulator.testing import SimulatorProcess, WebhookReceiver

URL = "https://example.com/a.png"
FILE = base64.b64encode(b"file").decode()
ROWS = [{"title": "Um", "rowId": "1"}]
LIST = {"title": "", "footerText": "", "buttonText": "Abrir", "sections": [{"title": "Tudo", "rows": ROWS}]}


async def post(simulator: SimulatorProcess, endpoint: str, body: dict[str, Any]) -> tuple[int, Any]:
    answer = await simulator.client.post(f"/message/{endpoint}", json=body)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("endpoint", "body", "message_type", "kind", "text", "payload"),
    [
        (
            "sendMedia",
            {"mediatype": "image", "media": URL, "caption": "olá"},
            "imageMessage",
            "image",
            "olá",
            {"media": URL, "mediatype": "image", "caption": "olá"},
        ),
        (
            "sendMedia",
            {"mediatype": "document", "media": FILE, "fileName": "a.pdf"},
            "documentMessage",
            "document",
            "",
            {"media": "base64:4", "mediatype": "document", "fileName": "a.pdf"},
        ),
        ("sendMedia", {"mediatype": "video", "media": URL}, "videoMessage", "video", "", None),
        ("sendWhatsAppAudio", {"audio": FILE, "caption": "x"}, "audioMessage", "voice", "", {"media": "base64:4"}),
        ("sendSticker", {"sticker": URL}, "stickerMessage", "sticker", "", {"media": URL}),
        ("sendList", {**LIST, "description": "escolha"}, "listMessage", "list", "escolha", None),
    ],
)
async def test_every_kind_has_its_message_its_echo_its_row_and_its_ledger_line(
    simulator: SimulatorProcess,
    receiver: WebhookReceiver,
    instance: str,
    number: str,
    endpoint: str,
    body: dict[str, Any],
    message_type: str,
    kind: str,
    text: str,
    payload: dict[str, Any] | None,
) -> None:
    status, sent = await post(simulator, f"{endpoint}/{instance}", {"number": number, **body})
    assert (status, sent["messageType"], sent["status"]) == (201, message_type, "PENDING")
    assert list(sent["message"]) == [message_type]
    assert sent["key"].keys() == {"remoteJid", "fromMe", "id"}
    [echo] = await receiver.wait_for(1, lambda call: call.body["event"] == "send.message")
    assert echo.body["data"] == sent
    where = {"where": {"key": {"id": sent["key"]["id"]}}}
    found = (await simulator.client.post(f"/chat/findMessages/{instance}", json=where)).json()["messages"]["records"]
    assert [record["message"] for record in found] == [sent["message"]]
    [row] = await simulator.ledger(instance=instance)
    assert (row["kind"], row["text"], row["message_type"]) == (kind, text, message_type)
    assert payload is None or row["payload"] == payload
    assert FILE not in str(row)


async def test_buttons_carry_a_picture_and_lose_nothing_in_the_ledger(
    simulator: SimulatorProcess, instance: str, number: str
) -> None:
    buttons = [{"type": "url", "displayText": "Ver", "url": URL}]
    body = {"number": number, "title": "Oi", "description": "veja", "thumbnailUrl": FILE, "buttons": buttons}
    status, sent = await post(simulator, f"sendButtons/{instance}", body)
    interactive = sent["message"]["viewOnceMessage"]["message"]["interactiveMessage"]
    assert (status, interactive["body"]) == (201, {"text": "*Oi*\n\nveja\n"})
    assert interactive["header"]["imageMessage"]["mimetype"] == "image/jpeg"
    assert sent["key"]["participant"] == sent["key"]["remoteJid"]
    [row] = await simulator.ledger(instance=instance)
    assert row["kind"] == "buttons"
    assert row["payload"] == {"title": "Oi", "description": "veja", "thumbnailUrl": "base64:4", "buttons": buttons}


@pytest.mark.parametrize(
    ("endpoint", "body", "message"),
    [
        ("sendMedia", {"mediatype": "image"}, ["Owned media must be a url or base64"]),
        (
            "sendMedia",
            {"mediatype": "image", "media": f"data:image/png;base64,{FILE}"},
            ["Owned media must be a url or base64"],
        ),
        ("sendMedia", {"mediatype": "image", "media": "http://minio/a.png"}, ["Owned media must be a url or base64"]),
        ("sendMedia", {"mediatype": "image", "media": "a." * 1_500}, ["Owned media must be a url or base64"]),
        ("sendMedia", {"mediatype": "document", "media": FILE}, ["For base64 the file name must be informed."]),
        (
            "sendMedia",
            {"mediatype": "gif", "media": URL},
            [["mediatype is not one of enum values: image,document,video,audio"]],
        ),
        ("sendMedia", {"media": URL}, [['instance requires property "mediatype"']]),
        ("sendWhatsAppAudio", {}, ["Owned media must be a url, base64, or valid file with buffer"]),
        ("sendWhatsAppAudio", {"audio": 5}, [["audio is not of a type(s) string"]]),
        ("sendSticker", {"sticker": "no"}, ["Owned media must be a url or base64"]),
        (
            "sendList",
            {},
            [[f'instance requires property "{name}"' for name in ("title", "footerText", "buttonText", "sections")]],
        ),
        ("sendList", {**LIST, "sections": []}, [["sections does not meet minimum length of 1"]]),
        (
            "sendList",
            {**LIST, "sections": [{"title": "Tudo", "rows": ROWS * 2}]},
            [["sections[0].rows contains duplicate item"]],
        ),
        (
            "sendList",
            {**LIST, "sections": [{"rows": [{"title": "", "rowId": 1}]}]},
            [
                [
                    'The "title" cannot be empty',
                    "sections[0].rows[0].rowId is not of a type(s) string",
                    'sections[0] requires property "title"',
                ]
            ],
        ),
        ("sendList", {**LIST, "sections": [5]}, [["sections[0] is not of a type(s) object"]]),
    ],
)
async def test_what_the_gateway_refuses_is_not_sent(
    simulator: SimulatorProcess, instance: str, number: str, endpoint: str, body: dict[str, Any], message: Any
) -> None:
    status, refused = await post(simulator, f"{endpoint}/{instance}", {"number": number, **body})
    assert (status, refused["response"]["message"]) == (400, message)
    assert await simulator.ledger(instance=instance) == []


async def test_scripts_rule_every_kind(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={"instance": instance}, send=["error_500_after_send", "refuse_not_exists"])
    status, _ = await post(simulator, f"sendSticker/{instance}", {"number": number, "sticker": URL})
    assert status == 500
    status, _ = await post(simulator, f"sendList/{instance}", {"number": number, **LIST})
    assert status == 400
    assert [row["kind"] for row in await simulator.ledger(instance=instance)] == ["sticker"]
