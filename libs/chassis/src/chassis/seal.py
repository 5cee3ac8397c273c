"""Personal data rests and travels only sealed, and is compared only as peppered hashes; both are made here."""

import base64
import binascii
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_VERSION: Final = 0x01
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_PEPPER_BYTES_MIN: Final = 32
_KEY_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,32}")
SEAL_HEAD_CHARS: Final = 48
"""The least that holds the longest key id."""
_URL_ALPHABET: Final = str.maketrans("-_", "+/")


class SealError(Exception):
    """A sealed value cannot be opened."""


class SealBrokenError(SealError):
    """The value is no seal of ours, was altered, or belongs to another owner (`aad`)."""


class UnknownKeyError(SealError):
    """The value was sealed with a key that is not in the ring."""


class InvalidKeyError(ValueError):
    """Key material is unusable; the text never holds the material."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRing:
    """AES-256-GCM keys by id: the active one seals, every one opens.

    A seal is unpadded base64url of `0x01 | key id length | key id | nonce (12) | ciphertext and tag`. Nonces are
    random, so a key must be retired well before 2^32 seals (NIST SP 800-38D).
    """

    active_key_id: str
    _ciphers: Mapping[str, AESGCM] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `kid:base64,kid2:base64`, the active key first; raises `InvalidKeyError`."""
        ciphers: dict[str, AESGCM] = {}
        for position, entry in enumerate(text.strip().split(","), start=1):
            key_id, _, material = entry.strip().partition(":")
            if not _KEY_ID.fullmatch(key_id):
                raise InvalidKeyError(f"key {position}: expected `id:base64` with an id of 1-32 letters, digits or ._-")
            if key_id in ciphers:
                raise InvalidKeyError(f"key {position}: its id is already taken")
            key = _decode_material(material, name=f"key {position}")
            if len(key) != _KEY_BYTES:
                raise InvalidKeyError(f"key {position}: expected {_KEY_BYTES} bytes, got {len(key)}")
            ciphers[key_id] = AESGCM(key)
        return cls(active_key_id=next(iter(ciphers)), _ciphers=ciphers)

    @property
    def key_ids(self) -> frozenset[str]:
        """Of every key that opens."""
        return frozenset(self._ciphers)

    def resealed(self, sealed: str, *, aad: bytes) -> str:
        """The same plaintext under the active key; raises what `open` raises."""
        return self.seal(self.open(sealed, aad=aad), aad=aad)

    def seal(self, plaintext: bytes, *, aad: bytes) -> str:
        """Seal for one owner; the same `aad` must be shown to open."""
        key_id = self.active_key_id.encode("ascii")
        nonce = secrets.token_bytes(_NONCE_BYTES)
        ciphertext = self._ciphers[self.active_key_id].encrypt(nonce, plaintext, aad)
        blob = bytes((_VERSION, len(key_id))) + key_id + nonce + ciphertext
        return base64.urlsafe_b64encode(blob).rstrip(b"=").decode("ascii")

    def open(self, sealed: str, *, aad: bytes) -> bytes:
        """Return the plaintext; raises `SealBrokenError` or `UnknownKeyError`."""
        key_id, nonce, ciphertext = _take_apart(sealed)
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise UnknownKeyError("sealed with a key that is not in the ring")
        try:
            return cipher.decrypt(nonce, ciphertext, aad)
        except InvalidTag:
            raise SealBrokenError("altered, or sealed for another owner") from None

    def check(self, sealed: str) -> None:
        """Whether it could be opened, without opening it; raises `SealBrokenError` or `UnknownKeyError`."""
        if _take_apart(sealed)[0] not in self._ciphers:
            raise UnknownKeyError("sealed with a key that is not in the ring")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pepper:
    """A secret that makes hashes of guessable values (a phone number has 11 digits) useless to a thief."""

    _keyed: hmac.HMAC = field(repr=False)
    """Has taken in the secret and nothing else; a copy of it hashes at half the price of beginning anew."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read base64 of at least 32 bytes; raises `InvalidKeyError`."""
        secret = _decode_material(text.strip(), name="pepper")
        if len(secret) < _PEPPER_BYTES_MIN:
            raise InvalidKeyError(f"pepper: expected at least {_PEPPER_BYTES_MIN} bytes, got {len(secret)}")
        return cls(_keyed=hmac.new(secret, digestmod="sha256"))

    def hash(self, value: str, *, purpose: str) -> str:
        """Hex HMAC-SHA256; equal values of different purposes give unrelated hashes."""
        label = purpose.encode()
        keyed = self._keyed.copy()
        keyed.update(len(label).to_bytes(2) + label + value.encode("utf-8", "surrogatepass"))
        return keyed.hexdigest()


def key_id_of(sealed: str) -> str | None:
    """Which key a value was sealed with, read off its first `SEAL_HEAD_CHARS`; None for what is no seal."""
    head = sealed[:SEAL_HEAD_CHARS]
    try:
        blob = _decode_base64(head[: len(head) // 4 * 4])
    except ValueError:
        return None
    if len(blob) < 2 or blob[0] != _VERSION:
        return None
    key_id = blob[2 : 2 + blob[1]].decode("ascii", "replace")
    return key_id if _KEY_ID.fullmatch(key_id) and len(key_id) == blob[1] else None


def _take_apart(sealed: str) -> tuple[str, bytes, bytes]:
    try:
        blob = _decode_base64(sealed)
    except ValueError:
        raise SealBrokenError("not base64url") from None
    if len(blob) < 2 or blob[0] != _VERSION:
        raise SealBrokenError("unknown version")
    nonce_start = 2 + blob[1]
    ciphertext_start = nonce_start + _NONCE_BYTES
    if len(blob) < ciphertext_start + _TAG_BYTES:
        raise SealBrokenError("too short")
    key_id = blob[2:nonce_start].decode("ascii", "replace")
    return key_id, blob[nonce_start:ciphertext_start], blob[ciphertext_start:]


def _decode_material(text: str, *, name: str) -> bytes:
    try:
        return _decode_base64(text)
    except ValueError:
        raise InvalidKeyError(f"{name}: not base64") from None


def _decode_base64(text: str) -> bytes:
    """Decode standard or URL alphabet, padded or not; raises ValueError on anything else."""
    unpadded = text.rstrip("=").translate(_URL_ALPHABET)
    padded = unpadded + "=" * (-len(unpadded) % 4)
    return binascii.a2b_base64(padded.encode("ascii"), strict_mode=True)
