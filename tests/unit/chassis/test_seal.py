"""A seal opens for its owner with a known key, and in no other case."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.seal import InvalidKeyError, KeyRing, Pepper, SealBrokenError, UnknownKeyError

OLD = base64.b64encode(b"o" * 32).decode()
NEW = base64.urlsafe_b64encode(bytes(range(224, 256))).rstrip(b"=").decode()
RING = KeyRing.parse(f"new:{NEW},old:{OLD}")
PEPPER = Pepper.parse(OLD)


@given(plaintext=st.binary(max_size=300), aad=st.binary(max_size=40))
def test_opens_what_it_sealed(plaintext: bytes, aad: bytes) -> None:
    assert RING.open(RING.seal(plaintext, aad=aad), aad=aad) == plaintext


def test_layout_is_the_documented_one() -> None:
    sealed = RING.seal(b"hello", aad=b"owner")
    blob = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    assert "=" not in sealed
    assert blob[:5] == b"\x01\x03new"
    assert len(blob) == 5 + 12 + 5 + 16


def test_nonces_differ() -> None:
    assert len({RING.seal(b"same", aad=b"owner") for _ in range(100)}) == 100


def test_old_keys_open_and_the_first_seals() -> None:
    sealed = KeyRing.parse(f"old:{OLD}").seal(b"hello", aad=b"owner")
    assert RING.open(sealed, aad=b"owner") == b"hello"
    with pytest.raises(UnknownKeyError):
        KeyRing.parse(f"other:{OLD}").open(sealed, aad=b"owner")


def test_another_owner_cannot_open() -> None:
    with pytest.raises(SealBrokenError):
        RING.open(RING.seal(b"hello", aad=b"owner"), aad=b"thief")


def test_every_altered_byte_is_noticed() -> None:
    sealed = RING.seal(b"hello", aad=b"owner")
    blob = bytearray(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    for index in range(len(blob)):
        blob[index] ^= 1
        with pytest.raises((SealBrokenError, UnknownKeyError)):
            RING.open(base64.urlsafe_b64encode(blob).decode(), aad=b"owner")
        blob[index] ^= 1


@pytest.mark.parametrize("text", ["", "A", "AQ", "not base64!", "AQNuZXc", "\u00e9", "AQNuZXcAAAA=AAAA", "/" * 400])
def test_what_is_no_seal_is_refused(text: str) -> None:
    with pytest.raises(SealBrokenError):
        RING.open(text, aad=b"owner")


@given(text=st.text(max_size=80))
def test_any_text_is_refused_calmly(text: str) -> None:
    with pytest.raises((SealBrokenError, UnknownKeyError)):
        RING.open(text, aad=b"owner")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "k1",
        "k1:",
        f":{OLD}",
        f"k 1:{OLD}",
        f"k1:{OLD[:8]}",
        f"k1:{OLD},k1:{OLD}",
        f"k1:{OLD},",
        "k1:***",
        f"{'k' * 33}:{OLD}",
    ],
)
def test_unusable_rings_are_refused_without_the_material(text: str) -> None:
    with pytest.raises(InvalidKeyError) as raised:
        KeyRing.parse(text)
    assert OLD[:8] not in str(raised.value)


def test_representations_hide_keys() -> None:
    for shown in (repr(RING), str(RING), repr(PEPPER), f"{PEPPER}"):
        assert OLD not in shown
        assert "ooo" not in shown
        assert "AESGCM" not in shown


def test_hash_is_hmac_and_separates_purposes() -> None:
    value = PEPPER.hash("olá", purpose="text")
    assert value == hmac.new(b"o" * 32, b"\x00\x04text" + "olá".encode(), hashlib.sha256).hexdigest()
    assert value != PEPPER.hash("olá", purpose="recipient")
    assert PEPPER.hash("b", purpose="a") != PEPPER.hash("", purpose="ab")
    assert PEPPER.hash("olá", purpose="text") != Pepper.parse(NEW).hash("olá", purpose="text")
    assert len(PEPPER.hash("\ud800", purpose="text")) == 64


def test_short_pepper_is_refused() -> None:
    with pytest.raises(InvalidKeyError, match="at least 32 bytes"):
        Pepper.parse(base64.b64encode(b"short").decode())
