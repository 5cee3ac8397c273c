"""A body is read whatever it is, and what is kept of it holds no credential."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from status_ingest.domain.arrivals import Fault
from status_ingest.usecases.read_body import read_body


def test_a_sound_event_is_labelled_and_loses_its_credentials() -> None:
    body = {"event": "MESSAGES_UPDATE", "instance": "loja", "apikey": "INST", "data": {"keyId": "K1", "token": "T"}}
    reading = read_body(json.dumps(body).encode())
    assert (reading.event, reading.instance, reading.fault) == ("messages.update", "loja", None)
    assert json.loads(reading.plaintext or b"") == {
        "event": "MESSAGES_UPDATE",
        "instance": "loja",
        "data": {"keyId": "K1"},
    }


def test_a_missing_instance_comes_from_the_hint_but_never_replaces_one() -> None:
    assert read_body(b'{"event":"call"}', instance_hint="hinted").instance == "hinted"
    assert read_body(b'{"event":"call","instance":"own"}', instance_hint="hinted").instance == "own"
    assert read_body(b'{"event":"call"}', instance_hint="not a name!").instance is None


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (None, Fault.TOO_LARGE),
        (b"", Fault.EMPTY),
        (b" \r\n\t", Fault.EMPTY),
        (b"nothing", Fault.NOT_JSON),
        (b"[" * 100_000, Fault.NOT_JSON),
        (b"{}", None),
        (b"[]", None),
        (b"NaN", None),
    ],
)
def test_faults(body: bytes | None, fault: Fault | None) -> None:
    assert read_body(body).fault is fault


def test_case_4_a_long_expired_credential_marks_the_event() -> None:
    reading = read_body(b'{"event":"call"}', is_stale=True)
    assert (reading.fault, reading.plaintext) == (Fault.CREDENTIAL_EXPIRED, b'{"event":"call"}')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-le"])
def test_case_10_any_encoding_of_json_is_understood(encoding: str) -> None:
    reading = read_body('{"event":"call","who":"Olá"}'.encode(encoding))
    assert json.loads(reading.plaintext or b"") == {"event": "call", "who": "Olá"}


def test_case_10_a_stray_byte_and_half_an_emoji_cost_nothing_but_themselves() -> None:
    reading = read_body(b'{"event":"call","who":"\xe9","half":"\\ud83d","literal":"\\\\u0000"}')
    kept = json.loads(reading.plaintext or b"")
    assert (kept["who"], kept["half"], kept["literal"]) == ("\ufffd", "\ud83d", "\\u0000")


@pytest.mark.parametrize(
    "body",
    [
        b'{"apikey":"INST","x":',
        b'{"api_key" : "INST',
        b"{'apiKey':'INST', broken",
        b"apikey=INST&event=x",
        b'{"data":{"Authorization":"Bearer INST"}, broken',
        b'{"server_url":"http://INST/path\\"more", broken',
    ],
)
def test_case_52_credentials_are_removed_from_what_only_looks_like_json(body: bytes) -> None:
    reading = read_body(body)
    assert reading.fault is Fault.NOT_JSON
    assert b"INST" not in (reading.plaintext or b"INST")


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    reading = read_body(body)
    assert (reading.plaintext is None) == (reading.fault is Fault.TOO_LARGE)
