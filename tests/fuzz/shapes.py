"""Bodies as gateways of every version really post them, in the proportions of a busy day."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

INSTANCES = ("loja", "shop", "fuzz")
"""Most bodies speak for the last one, and two in three are posted to its own address."""

STATUSES: Sequence[object] = (
    *("SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED", "ERROR", "PENDING", "DELETED", "EDITED", "delivery_ack"),
    *(0, 1, 2, 3, 4, 5, "0", "3", "4", 3.0),
)
JIDS = (
    *("5547991234567@s.whatsapp.net", "553188887777@s.whatsapp.net", "5547991234567:12@s.whatsapp.net"),
    *("100000000000001@lid", "120363000000000000@g.us", "status@broadcast", "120363000000000000@newsletter"),
)
IGNORED = (
    *("messages.upsert", "messages.delete", "messages.edited", "messages.set", "presence.update", "qrcode.updated"),
    *("contacts.update", "chats.upsert", "groups.upsert", "call", "application.startup", "labels.edit", "error"),
)
KEYS = tuple(f"3EB0{number:016X}" for number in range(400))
ROW, TEXT = "cmx32aum50007967dh4znizq9", 'Olá 👩‍👩‍👧 "ç" </script> \u2028 code 1234'


def body(dice: Random) -> dict[str, Any]:
    """One event in its envelope."""
    event, data = dice.choices(_MAKERS, _WEIGHTS)[0](dice)
    envelope = {
        "event": event,
        "instance": dice.choices(INSTANCES, (1, 1, 10))[0],
        "data": data,
        "destination": "http://127.0.0.1:8001/webhooks/evolution/a-secret-path",
        "date_time": "2026-11-30T09:24:51.293Z",
        "sender": dice.choice(JIDS),
        "server_url": "http://127.0.0.1:18080",
        "apikey": dice.choice((None, "B7D1F0A2-INST")),
    }
    if dice.random() < 0.1:
        envelope["event"] = event.replace(".", "_").replace("-", "_").upper()
    return envelope


def _flat(dice: Random) -> tuple[str, object]:
    """2.2.3 to 2.4."""
    data = {
        "keyId": dice.choice(KEYS),
        "remoteJid": dice.choice(JIDS),
        "fromMe": dice.random() < 0.9,
        "status": dice.choice(STATUSES),
        "instanceId": "31b5cb85-0000-4000-8000-000000000000",
        "messageId": ROW,
    }
    if dice.random() < 0.2:
        data |= {"participant": dice.choice((None, *JIDS)), "remoteJidAlt": dice.choice(JIDS), "senderPn": JIDS[0]}
    if dice.random() < 0.1:
        data |= {"message": {"conversation": TEXT}, "pollUpdates": [{"name": "a", "voters": []}]}
    return "messages.update", data


def _version_1(dice: Random) -> tuple[str, object]:
    times: Sequence[object] = (1_750_000_000, "1750000000", {"low": 1_750_000_000, "high": 0, "unsigned": True})
    return "messages.update", {
        "remoteJid": dice.choice(JIDS),
        "id": dice.choice(KEYS),
        "fromMe": True,
        "status": dice.choice(STATUSES),
        "datetime": dice.choice(times),
        "owner": "loja",
        "pollUpdates": None,
    }


def _of_baileys(dice: Random) -> tuple[str, object]:
    items = [
        {
            "key": {"id": dice.choice(KEYS), "remoteJid": dice.choice(JIDS), "fromMe": True},
            "update": {"status": dice.choice(STATUSES)},
        }
        for _ in range(dice.choice((1, 1, 2, 5, 40)))
    ]
    return "messages.update", items if dice.random() < 0.7 else items[0]


def _sent(dice: Random) -> tuple[str, object]:
    buttons = {"body": {"text": TEXT}, "nativeFlowMessage": {"buttons": [{"name": "quick_reply"}]}}
    contents: Sequence[object] = (
        {"conversation": TEXT},
        {"extendedTextMessage": {"text": TEXT, "contextInfo": {"quotedMessage": {"conversation": "before"}}}},
        {"imageMessage": {"caption": TEXT, "url": "https://mmg.whatsapp.net/x", "jpegThumbnail": "AAAA" * 200}},
        {"viewOnceMessage": {"message": {"interactiveMessage": buttons}}},
        {"listMessage": {"title": "t", "description": TEXT, "sections": [{"rows": [{"rowId": "1", "title": "a"}]}]}},
        {"base64": "AAAA" * 1_000, "documentMessage": {"caption": TEXT}},
    )
    return "send.message", {
        "key": {"remoteJid": dice.choice(JIDS), "fromMe": True, "id": dice.choice(KEYS)},
        "pushName": "Você",
        "status": "PENDING",
        "message": dice.choice(contents),
        "contextInfo": {"ephemeralSettingTimestamp": {"low": 1_795_857_866, "high": 0, "unsigned": False}},
        "messageType": "conversation",
        "messageTimestamp": dice.choice((1_796_030_666, "1796030666", {"low": 1_796_030_666, "high": 0})),
        "instanceId": "31b5cb85-0000-4000-8000-000000000000",
        "source": "web",
    }


def _connection(dice: Random) -> tuple[str, object]:
    return dice.choice(
        (
            ("connection.update", {"instance": "loja", "state": "open", "statusReason": 200, "wuid": JIDS[0]}),
            ("connection.update", {"instance": "loja", "state": "connecting", "statusReason": 200}),
            ("connection.update", {"instance": "loja", "state": "close", "statusReason": 401}),
            ("connection.update", {"instance": "loja", "state": "refused", "statusReason": 428}),
            ("status.instance", {"instance": "loja", "status": "closed", "disconnectionReasonCode": 403}),
            ("logout.instance", None),
            ("remove.instance", {"instance": "loja"}),
        )
    )


def _ignored(dice: Random) -> tuple[str, object]:
    event, kept = dice.choice(IGNORED), _sent(dice)[1]
    qr_code = {
        "qrcode": {"instance": "loja", "pairingCode": "ABCD1234", "code": "2@secret", "base64": "data:image/png"}
    }
    return event, qr_code if event == "qrcode.updated" else dice.choice((kept, [kept], {"status": 400}))


_MAKERS: Sequence[Callable[[Random], tuple[str, object]]] = (
    _flat,
    _version_1,
    _of_baileys,
    _sent,
    _connection,
    _ignored,
)
_WEIGHTS = (40, 8, 12, 20, 8, 12)
