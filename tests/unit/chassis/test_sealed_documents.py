"""Seals inside documents are found, opened and renewed, whatever else a document holds."""

import json
from typing import Any
from uuid import uuid4

import pytest

from chassis.seal import KeyRing, UnknownKeyError, key_id_of
from chassis.sealed_documents import key_ids_in, opened_in, resealed_document

OLD_KEY, NEW_KEY = "old:" + "b2xk" * 10 + "b2w=", "n" * 32 + ":" + "bmV3" * 10 + "bmU="
OLD, NEW, BOTH = KeyRing.parse(OLD_KEY), KeyRing.parse(NEW_KEY), KeyRing.parse(f"{NEW_KEY},{OLD_KEY}")


@pytest.mark.parametrize(("ring", "key_id"), [(OLD, "old"), (NEW, "n" * 32)])
def test_the_key_is_read_off_the_head_of_a_seal(ring: KeyRing, key_id: str) -> None:
    for length in range(40):
        assert key_id_of(ring.seal(b"x" * length, aad=b"")) == key_id


@pytest.mark.parametrize(
    "text", ["", "A", "erased", "AQ", "AQNv", "not a seal at all, but a longer text " * 3, "\u00e7" * 60]
)
def test_what_is_no_seal_has_no_key(text: str) -> None:
    assert key_id_of(text) is None


def test_seals_deep_inside_are_renewed_and_the_rest_stays_as_it_was() -> None:
    message_id, number_id = uuid4(), uuid4()
    document: dict[str, Any] = {
        "text": "sealed: Olá",
        "accepted": {"ref": {"message_id": str(message_id)}, "sealed": OLD.seal(b"one", aad=message_id.bytes)},
        "list": [{"number_id": str(number_id), "sealed_access": OLD.seal(b"two", aad=number_id.bytes)}],
        "sealed_profile": None,
    }
    body = json.dumps(document, ensure_ascii=False, indent=1).encode()
    fresh = resealed_document(body, BOTH)
    assert key_ids_in(body) == {"old"}
    assert key_ids_in(fresh) == {"n" * 32}
    assert sorted(opened_in(fresh, NEW)) == [b"one", b"two"]
    assert list(opened_in(body, NEW)) == []
    again = json.loads(fresh)
    again["accepted"]["sealed"], again["list"][0]["sealed_access"] = (
        document["accepted"]["sealed"],
        document["list"][0]["sealed_access"],
    )
    assert again == document
    assert resealed_document(fresh, BOTH) == fresh


def test_a_seal_of_nobody_named_beside_it_stays_and_a_missing_key_is_said() -> None:
    stray = json.dumps({"sealed": OLD.seal(b"x", aad=uuid4().bytes), "id": str(uuid4())}).encode()
    assert resealed_document(stray, BOTH) == stray
    owner = uuid4()
    theirs = json.dumps({"sealed": OLD.seal(b"x", aad=owner.bytes), "id": str(owner)}).encode()
    with pytest.raises(UnknownKeyError):
        resealed_document(theirs, NEW)


@pytest.mark.parametrize("body", [b"", b"garbage", b"[1, 2]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_document_holds_no_seal(body: bytes) -> None:
    assert (resealed_document(body, BOTH), key_ids_in(body), list(opened_in(body, BOTH))) == (body, set(), [])
