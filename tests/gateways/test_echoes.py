"""What a `send.message` webhook proves: which id, to whom, with what text, when."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from gateways.evolution.webhooks import translate
from gateways.port import Alias, Echo, Ignored, Observation, Unreadable

PHONE_JID = "5547991234567@s.whatsapp.net"


def single(payload: object) -> Observation:
    observations = [one for one in translate(payload) if not isinstance(one, Alias)]
    assert len(observations) == 1
    return observations[0]


def sent(message: object, key: Mapping[str, object] | None = None, **more: object) -> Mapping[str, object]:
    data = {
        "key": {"remoteJid": PHONE_JID, "fromMe": True, "id": "K5", **(key or {})},
        "status": "PENDING",
        "message": message,
        "messageTimestamp": 1_768_478_400,
        **more,
    }
    return {"event": "send.message", "instance": "shop", "data": data}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"conversation": "ola"}, "ola"),
        ({"extendedTextMessage": {"text": "ola https://example.com"}}, "ola https://example.com"),
        ({"viewOnceMessage": {"message": {"interactiveMessage": {"body": {"text": "*t*\n\nola\n"}}}}}, "*t*\n\nola\n"),
        ({"interactiveMessage": {"body": {"text": "*t*\n\nola\n\n*x*"}}}, "*t*\n\nola\n\n*x*"),
        ({"interactiveMessage": {"body": {"text": "**a* b*"}}}, "**a* b*"),
        ({"interactiveMessage": {"body": {"text": "*"}}}, "*"),
        ({"imageMessage": {"url": "x", "caption": "ola"}}, "ola"),
        ({"videoMessage": {"caption": "ola"}}, "ola"),
        ({"documentWithCaptionMessage": {"message": {"documentMessage": {"caption": "ola"}}}}, "ola"),
        ({"documentMessage": {"fileName": "ola.pdf", "caption": ""}}, None),
        ({"listMessage": {"title": "t", "description": "ola", "buttonText": "b"}}, "*t*\n\nola"),
        ({"audioMessage": {"url": "x", "ptt": True}}, None),
        ({"stickerMessage": {"url": "x"}}, None),
        ({"ephemeralMessage": {"message": {"extendedTextMessage": {"text": "ola"}}}}, "ola"),
        ({"conversation": "a\x00b\ud83d"}, "a�b�"),
        ({"conversation": "a\\u0000b"}, "a\\u0000b"),
        ({"imageMessage": {"url": "x"}}, None),
        (None, None),
    ],
)
def test_case_06_case_10_an_echo_proves_a_send(message: object, text: str | None) -> None:
    moment = datetime.fromtimestamp(1_768_478_400, tz=UTC)
    expected = Echo(instance="shop", key_id="K5", recipient="5547991234567", text=text, sent_at=moment)
    assert single(sent(message)) == expected


@pytest.mark.parametrize(
    ("key", "recipient"),
    [
        ({"remoteJid": "5547991234567:12@s.whatsapp.net"}, "5547991234567"),
        ({"remoteJid": "5547991234567@c.us"}, "5547991234567"),
        ({"remoteJid": "5547991234567"}, "5547991234567"),
        ({"remoteJid": "100000000000001@lid", "remoteJidAlt": PHONE_JID}, "5547991234567"),
        ({"remoteJid": "100000000000001@lid", "senderPn": PHONE_JID}, "5547991234567"),
        ({"remoteJid": "100000000000001@lid"}, None),
        ({"remoteJid": "120363000000000000@g.us", "participantPn": PHONE_JID}, None),
        ({"remoteJid": "status@broadcast"}, None),
        ({"remoteJid": None}, None),
        ({"remoteJid": "9" * 2_000}, None),
    ],
)
def test_case_12_case_21_only_phones_become_recipients(key: Mapping[str, object], recipient: str | None) -> None:
    echo = single(sent({"conversation": "ola"}, key))
    assert isinstance(echo, Echo)
    assert echo.recipient == recipient
    assert echo.lid == ("100000000000001" if "@lid" in str(key["remoteJid"]) else None)
    assert "5547991234567" not in repr(echo)
    assert "ola" not in repr(echo)


@pytest.mark.parametrize(
    ("value", "epoch"),
    [
        (1_750_000_000, 1_750_000_000),
        ("1750000000", 1_750_000_000),
        ({"low": 1_750_000_000, "high": 0, "unsigned": True}, 1_750_000_000),
        (1_750_000_000_000, 1_750_000_000),
        (None, None),
        (True, None),
        ("soon", None),
        (0, None),
        (float("nan"), None),
        (10**400, None),
    ],
)
def test_case_05_case_08j_the_time_of_an_echo_is_whatsapps(value: object, epoch: int | None) -> None:
    echo = single(sent({"conversation": "ola"}, messageTimestamp=value))
    assert isinstance(echo, Echo)
    assert echo.sent_at == (None if epoch is None else datetime.fromtimestamp(epoch, tz=UTC))


def test_an_echo_without_key_is_unreadable_and_an_inbound_one_ignored() -> None:
    assert single({"event": "send.message", "instance": "shop", "data": {}}) == Unreadable(reason="key_missing")
    assert single(sent({"conversation": "x"}, {"fromMe": False})) == Ignored(reason="not_from_me")


def test_case_12_an_echo_that_names_a_person_both_ways_says_so() -> None:
    key = {"remoteJid": "100000000000001@lid", "remoteJidAlt": PHONE_JID}
    observations = translate(sent({"conversation": "ola"}, key))
    assert observations[1:] == (Alias(instance="shop", lid="100000000000001", phone="5547991234567"),)
