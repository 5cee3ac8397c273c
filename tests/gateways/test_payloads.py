"""What a webhook body loses before anything keeps it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.evolution.payloads import clean_text, clean_texts, labels_of, strip_credentials

SECRETS = ("GLOBAL", "INST", "HOOKPATH", "BEARER", "JWT", "QR")


def test_case_52_no_secret_survives() -> None:
    payload = {
        "event": "messages.update",
        "instance": "shop",
        "apikey": "INST",
        "api_key": "GLOBAL",
        "apiKey": "GLOBAL",
        "server_url": "http://gw/GLOBAL",
        "destination": "https://us/HOOKPATH",
        "token": "INST",
        "data": {
            "keyId": "K1",
            "webhook": {"url": "x", "headers": {"authorization": "BEARER", "jwt_key": "JWT"}},
            "rows": [{"Token": "INST"}, {"hash": {"apikey": "INST"}}],
            "qrcode": {"base64": "QR", "pairingCode": "QR"},
        },
    }
    stripped = strip_credentials(payload)
    text = json.dumps(stripped)
    assert not [secret for secret in SECRETS if secret in text]
    assert stripped == {
        "event": "messages.update",
        "instance": "shop",
        "data": {"keyId": "K1", "webhook": {"url": "x"}, "rows": [{}, {}]},
    }
    assert payload["apikey"] == "INST"


def test_case_52_what_is_no_object_passes_and_depth_is_bounded() -> None:
    assert strip_credentials("x") == "x"
    assert strip_credentials([1, None, {"token": "INST"}]) == [1, None, {}]
    deep: object = {"token": "INST"}
    for _ in range(900):
        deep = [deep]
    assert "INST" not in json.dumps(strip_credentials(deep))


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ('"Ana\\u0000B"', "Ana�B"),
        ('"cut \\ud83d"', "cut �"),
        ('"cut \\udc00\\ud83d"', "cut ��"),
        ('"literal \\\\u0000"', "literal \\u0000"),
        ('"\\ud83d\\ude00"', "😀"),
        ('"Olá"', "Olá"),
    ],
)
def test_case_10_nul_and_half_emojis_are_replaced(raw: str, clean: str) -> None:
    assert clean_text(json.loads(raw)) == clean
    assert clean_texts({"pushName": [json.loads(raw)], json.loads(raw): 1}) == {"pushName": [clean], clean: 1}


@given(st.text(st.characters(exclude_categories=())))
def test_case_10_every_cleaned_text_can_be_stored(text: str) -> None:
    cleaned = clean_text(text)
    assert b"\x00" not in cleaned.encode()


@pytest.mark.parametrize(
    ("payload", "labels"),
    [
        ({"event": "messages.update", "instance": "shop"}, ("messages.update", "shop")),
        ({"event": "SEND_MESSAGE", "instance": "shop"}, ("send.message", "shop")),
        ({"event": "x" * 10_000, "instance": "y" * 10_000}, ("other", "none")),
        ({"event": ["a"], "instance": {"a": 1}}, ("other", "none")),
        ({}, ("none", "none")),
        (None, ("none", "none")),
    ],
)
def test_labels_are_bounded(payload: object, labels: tuple[str, str]) -> None:
    assert labels_of(payload) == labels
