"""Breaks a body as bugs, proxies, versions to come and enemies do: in its structure, types, bytes, depth and size."""

import gzip
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

LEAVES: Sequence[object] = (
    *(None, True, False, 0, -1, 5, 7, 3.5, 1e308, float("inf"), float("nan"), 2**31, 2**63, 10**30, -(10**300)),
    *("", " ", "\x00", "a\x00b", "\ud83d", "\udc00\ud83d", "👩‍👩‍👧", "\u2028", "\u202e", "٣", "²", "\ufeff", "\\u0000"),
    *(
        "null",
        "NaN",
        "READ",
        "0",
        "../../etc/passwd",
        "'; DROP TABLE receipts; --",
        "%s%n{0}${x}",
        "<script>",
        "x" * 300,
    ),
    *([], {}, [[]], [None], {"": ""}, {"\x00": "\x00"}, {"low": -1, "high": 5}, {"low": "x"}, {"id": {"id": {}}}),
)
CONTENT_TYPES = (
    *("application/json", "application/json", "application/json", "application/json; charset=utf-16", "text/plain"),
    *("application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=nonsense", "", "\xff\xfe"),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-32-be", "latin-1", "cp1252", "utf-7", "utf-8-sig", "cp500")
DEPTHS, LENGTHS, SIZES = (10, 63, 64, 65, 500, 990, 1_000, 20_000), (100, 1_001, 3_000), (70_000, 400_000, 1_100_000)


def mutated(payload: dict[str, Any], dice: Random) -> bytes:
    """The bytes to be posted; one in ten is left as it is."""
    kind = dice.random()
    if kind < 0.1:
        return _encode(payload)
    if kind < 0.17:
        return _nested(payload, dice)
    if kind < 0.18:
        return _long(payload, dice)
    document: object = payload
    for _ in range(dice.choice((0, 1, 1, 2, 4))):
        document = _change(document, dice)
    raw = _encode(document)
    for _ in range(dice.choice((0, 0, 0, 1, 1, 3))):
        raw = dice.choice(_OF_BYTES)(raw, dice)
    return raw


def _encode(document: object) -> bytes:
    return json.dumps(document, default=str).encode()


def _places(document: object, found: list[Any]) -> list[Any]:
    """Every container inside."""
    if isinstance(document, dict | list):
        found.append(document)
        for inner in document.values() if isinstance(document, dict) else document:
            _places(inner, found)
    return found


def _change(document: object, dice: Random) -> object:
    if dice.random() < 0.04:
        return dice.choice((dice.choice(LEAVES), [document], {"data": document}, [document, document]))
    copied = json.loads(_encode(document))
    places = [place for place in _places(copied, []) if place]
    if not places:
        return dice.choice(LEAVES)
    place = places[0] if dice.random() < 0.3 else dice.choice(places)
    key = dice.choice(list(place)) if isinstance(place, dict) else dice.randrange(len(place))
    dice.choice(_OF_STRUCTURE)(place, key, dice)
    return copied


def _drop(place: Any, key: Any, dice: Random) -> None:
    del place[key]


def _retype(place: Any, key: Any, dice: Random) -> None:
    place[key] = dice.choice(LEAVES)


def _restring(place: Any, key: Any, dice: Random) -> None:
    place[key] = dice.choice((str(place[key]), [place[key]], {"value": place[key]}, json.dumps(place[key])))


def _rename(place: Any, key: Any, dice: Random) -> None:
    if isinstance(place, dict):
        place[dice.choice((key.upper(), key + "\x00", " " + key, key + "_", "\ud800", ""))] = place.pop(key)


def _repeat(place: Any, key: Any, dice: Random) -> None:
    place[key] = [place[key]] * dice.choices((0, 2, 50, 1_001), (10, 20, 5, 1))[0]


def _crowd(place: Any, key: Any, dice: Random) -> None:
    if isinstance(place, dict):
        place.update(
            {f"extra{number}": dice.choice(LEAVES) for number in range(dice.choices((1, 30, 1_000), (10, 5, 1))[0])}
        )


def _nested(payload: dict[str, Any], dice: Random) -> bytes:
    """Something very deep in the place of a value."""
    depth = dice.choice(DEPTHS)
    opening, closing = dice.choice((("[", "]"), ('{"a":', "}"), ('{"message":', "}"), ('[{"data":', "}]")))
    deep = opening * depth + "1" + closing * (depth if dice.random() < 0.8 else 0)
    marked = {**payload, dice.choice(("data", "instance", "event", "deep")): "@@"}
    return _encode(marked).replace(b'"@@"', deep.encode())


def _long(payload: dict[str, Any], dice: Random) -> bytes:
    """Something very long: a text, a number, a list of receipts."""
    kind, data = dice.randrange(4), payload["data"]
    if kind == 0:
        return _encode({**payload, "data": [data] * dice.choice(LENGTHS)})
    if kind == 1:
        return _encode(
            {**payload, dice.choice(("data", "sender", "event", "instance")): "é" * (dice.choice(SIZES) // 6)}
        )
    if kind == 2:
        return _encode({**payload, "data": "@@"}).replace(b'"@@"', b"9" * dice.choice((400, 4_301, 50_000)))
    return _encode(payload) + b" " * dice.choice(SIZES)


def _flip(raw: bytes, dice: Random) -> bytes:
    if not raw:
        return raw
    place = dice.randrange(len(raw))
    return raw[:place] + bytes((raw[place] ^ (1 << dice.randrange(8)),)) + raw[place + 1 :]


def _cut(raw: bytes, dice: Random) -> bytes:
    start = dice.randrange(len(raw) + 1)
    return raw[:start] if dice.random() < 0.5 else raw[:start] + raw[start + dice.randrange(30) :]


def _insert(raw: bytes, dice: Random) -> bytes:
    place = dice.randrange(len(raw) + 1)
    strange = (b"\x00", b"\xff\xfe", b"\xed\xa0\xbd", b"\\ud83d", b'"event":"call",', b"\xc3", dice.randbytes(8))
    return raw[:place] + dice.choice(strange) + raw[place:]


def _recode(raw: bytes, dice: Random) -> bytes:
    return raw.decode("utf-8", "replace").encode(dice.choice(ENCODINGS), "replace")


def _replace(raw: bytes, dice: Random) -> bytes:
    frames = (
        b"",
        b" \r\n",
        b"null",
        raw + raw,
        b"payload=" + raw,
        gzip.compress(raw, mtime=0),
        b"\xef\xbb\xbf" + raw,
        raw[::-1],
    )
    return dice.choice(
        (*frames, b"[" + raw, raw + b"\x00", b"\x00" + raw, raw.replace(b'"', b"'"), dice.randbytes(200))
    )


_OF_STRUCTURE: Sequence[Callable[[Any, Any, Random], None]] = (
    _drop,
    _retype,
    _retype,
    _restring,
    _rename,
    _repeat,
    _crowd,
)
_OF_BYTES: Sequence[Callable[[bytes, Random], bytes]] = (_flip, _cut, _insert, _recode, _replace)
