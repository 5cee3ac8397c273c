"""A person is forgotten: posted events that name them go, whatever the spelling, and nothing else."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from chassis.seal import KeyRing, UnknownKeyError
from contracts.facts import ReceiptRecorded, RecipientErased
from status_ingest.usecases.erase_recipient import EraseRecipient

from .conftest import KEY_RING, Service

PHONE, SHORT, OTHER = "5547981230001", "554781230001", "5547981230009"


def erased(digits: str = PHONE, *, ring: KeyRing = KEY_RING) -> RecipientErased:
    erasure_id = uuid4()
    return RecipientErased(
        erasure_id=erasure_id,
        recipient_hash="a" * 64,
        sealed_recipient=ring.seal(digits.encode(), aad=erasure_id.bytes),
        erased_at=datetime.now(UTC),
    )


def update(number: str, key_id: str) -> dict[str, object]:
    data = {"keyId": key_id, "remoteJid": f"{number}@s.whatsapp.net", "fromMe": True, "status": "READ"}
    return {"event": "messages.update", "instance": "loja", "data": data}


async def left(service: Service) -> Sequence[str]:
    """What the events that are left say."""
    rows = await service.rows(
        "SELECT id, sealed FROM status_ingest.raw_events UNION ALL SELECT id, sealed FROM status_ingest.quarantine"
    )
    return [KEY_RING.open(row.sealed, aad=row.id.bytes).decode() for row in rows if row.sealed]


async def test_events_that_name_the_person_are_deleted_in_bites(service: Service) -> None:
    for number, key_id in ((PHONE, "K1"), (SHORT, "K2"), (OTHER, "K3"), (PHONE, "K4")):
        await service.post(update(number, key_id))
    await service.post(b"not json, from +55 (47) 98123-0001")
    await service.post(b"not json, from somebody else")
    await service.interpret()
    erase = EraseRecipient(database=service.database, key_ring=KEY_RING, bite=2)
    assert await erase(erased()) == 4
    contents = await left(service)
    assert len(contents) == 2
    assert not any(planted in content for content in contents for planted in (PHONE, SHORT, "98123-0001"))
    assert await erase(erased(SHORT)) == 0, "both spellings are one person, and repeating it is harmless"


async def test_an_event_that_waits_is_interpreted_first(service: Service) -> None:
    await service.post(update(PHONE, "K1"))
    erase = EraseRecipient(database=service.database, key_ring=KEY_RING)
    assert await erase(erased()) == 0
    await service.interpret()
    parked = await service.rows("SELECT 1 FROM status_ingest.receipts")
    assert len(parked) == 1, "the receipt it tells of is not lost"
    assert await service.said(ReceiptRecorded) == []
    assert await erase(erased()) == 1
    assert await left(service) == []


async def test_a_fact_under_a_key_that_is_gone_is_not_taken_for_done(service: Service) -> None:
    other = KeyRing.parse("gone:" + "b2xk" * 10 + "b2w=")
    with pytest.raises(UnknownKeyError):
        await EraseRecipient(database=service.database, key_ring=KEY_RING)(erased(ring=other))
