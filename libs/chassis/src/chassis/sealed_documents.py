"""Seals inside a JSON document: a statement that waits in an outbox or died in a queue, sealed members and all."""

import json
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from chassis.seal import KeyRing, SealBrokenError, SealError, key_id_of

MEMBER_PREFIX: Final = "sealed"
"""How members that hold a seal are named, in every statement."""


def key_ids_in(body: bytes) -> set[str]:
    """The keys of every seal in a document; none in what is no JSON."""
    return {key_id for sealed in _seals(_parsed(body)) if (key_id := key_id_of(sealed)) is not None}


def opened_in(body: bytes, ring: KeyRing) -> Iterator[bytes]:
    """The plaintext of every seal that opens."""
    document = _parsed(body)
    owners = list(_owners(document))
    for sealed in _seals(document):
        try:
            yield ring.open(sealed, aad=_owner_of(sealed, owners, ring))
        except SealError:
            continue


def resealed_document(body: bytes, ring: KeyRing) -> bytes:
    """The same bytes with every seal under the active key; one that belongs to nobody named in it stays.

    Raises `UnknownKeyError` if a seal's key is not in the ring.
    """
    document = _parsed(body)
    owners = list(_owners(document))
    for sealed in set(_seals(document)):
        if key_id_of(sealed) == ring.active_key_id:
            continue
        try:
            fresh = ring.resealed(sealed, aad=_owner_of(sealed, owners, ring))
        except SealBrokenError:
            continue
        body = body.replace(sealed.encode(), fresh.encode())
    return body


def _owner_of(sealed: str, owners: list[bytes], ring: KeyRing) -> bytes:
    """The associated data is the id of the owner, which every statement names beside the seal."""
    for owner in owners:
        try:
            ring.open(sealed, aad=owner)
        except SealBrokenError:
            continue
        return owner
    raise SealBrokenError("nobody named in the document owns it")


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _seals(value: Any) -> Iterator[str]:
    for name, each in _members(value):
        if name.startswith(MEMBER_PREFIX) and isinstance(each, str) and key_id_of(each) is not None:
            yield each


def _owners(value: Any) -> Iterator[bytes]:
    for _, each in _members(value):
        if isinstance(each, str) and len(each) == 36:
            try:
                yield UUID(each).bytes
            except ValueError:
                continue


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Every named value, however deep; json.loads has bounded the depth."""
    waiting = [("", value)]
    while waiting:
        name, each = waiting.pop()
        match each:
            case dict():
                waiting += each.items()
            case list():
                waiting += [(name, item) for item in each]
            case _:
                yield name, each
