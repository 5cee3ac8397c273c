"""A person is forgotten: dead letters that hold anything of theirs, and contents in the ledger nobody needs."""

import json
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from contracts.facts import MessageAccepted, MessageDispatched, MessageStatusChanged, RecipientErased
from contracts.facts.messages import Proof
from contracts.status import Status
from contracts.values import MessageContent
from reconciler.domain.dead_letters import dead_letter_of
from reconciler.usecases.erase_recipient import EraseRecipient

from .conftest import KEY_RING, START, Service, accepted, reference

PHONE, SHORT, OTHER = "5547981230001", "554781230001", "5547981230009"
THEIRS, ANOTHERS = "a" * 64, "b" * 64


def owed(to: str, recipient_hash: str) -> MessageAccepted:
    fact = accepted(reference())
    content = MessageContent(to=to, text="segredo").model_dump_json().encode()
    sealed = KEY_RING.seal(content, aad=fact.ref.message_id.bytes)
    return fact.model_copy(update={"sealed": sealed, "recipient_hash": recipient_hash})


def erased(*, tenant_id: UUID | None = None) -> RecipientErased:
    erasure_id = uuid4()
    return RecipientErased(
        erasure_id=erasure_id,
        tenant_id=tenant_id,
        recipient_hash=THEIRS,
        sealed_recipient=KEY_RING.seal(SHORT.encode(), aad=erasure_id.bytes),
        erased_at=datetime.now(UTC),
    )


def dispatched(fact: MessageAccepted) -> MessageDispatched:
    return MessageDispatched(ref=fact.ref, attempt=1, key_id="K", dispatched_at=START, proof=Proof.RESPONSE)


def changed(fact: MessageAccepted) -> MessageStatusChanged:
    return MessageStatusChanged(
        ref=fact.ref,
        previous=Status.DISPATCHED,
        status=Status.SENT,
        changed_at=START,
        version=3,
        accepted_at=START,
        sealed=fact.sealed,
    )


@pytest.fixture
def erase(service: Service) -> EraseRecipient:
    return EraseRecipient(database=service.database, key_ring=KEY_RING, bite=2)


async def bury(service: Service, *bodies: bytes) -> None:
    for body in bodies:
        letter = dead_letter_of(
            body=body, message_id=str(uuid4()), type_name=None, routing_key="x", headers={}, now=START
        )
        await service.letters.submit(letter)


async def letters(service: Service) -> list[bytes]:
    rows = await service.rows("SELECT id, sealed FROM reconciler.dead_letters")
    return [KEY_RING.open(row.sealed, aad=row.id.bytes) for row in rows]


async def test_dead_letters_with_the_number_its_hash_or_a_content_for_it_go(
    service: Service, erase: EraseRecipient
) -> None:
    theirs, anothers = owed(PHONE, THEIRS), owed(OTHER, ANOTHERS)
    kept = [changed(anothers).body(), dispatched(theirs).body(), b"garbage", b'{"phone": "5547981230009"}']
    await bury(service, theirs.body(), changed(theirs).body(), b"garbage from +55 47 98123-0001", *kept)
    await erase(erased())
    assert sorted(await letters(service)) == sorted(kept)
    await erase(erased())
    assert len(await letters(service)) == len(kept)


async def test_another_tenants_letters_stay_if_one_tenant_is_meant(service: Service, erase: EraseRecipient) -> None:
    theirs, anothers = owed(PHONE, THEIRS), owed(PHONE, THEIRS)
    await bury(service, theirs.body(), anothers.body())
    await erase(erased(tenant_id=theirs.ref.tenant_id))
    assert await letters(service) == [anothers.body()]


async def test_the_ledger_forgets_what_nobody_needs_and_can_still_put_the_rest_to_work(
    service: Service, erase: EraseRecipient
) -> None:
    facts = [owed(PHONE, THEIRS) for _ in range(3)]
    waiting, anothers = owed(PHONE, THEIRS), owed(OTHER, ANOTHERS)
    await service.hear(*facts, waiting, anothers)
    await service.hear(*(dispatched(fact) for fact in (*facts, anothers)))
    await erase(erased())
    rows = await service.rows("SELECT message_id, accepted FROM reconciler.ledger")
    opened = {row.message_id: KEY_RING.open(row.accepted["sealed"], aad=row.message_id.bytes) for row in rows}
    assert [opened[fact.ref.message_id] for fact in facts] == [b""] * 3
    for fact in (waiting, anothers):
        assert json.loads(opened[fact.ref.message_id])["text"] == "segredo"
    await service.hear(changed(waiting))
    [row] = await service.rows(
        "SELECT accepted FROM reconciler.ledger WHERE message_id = :id", id=waiting.ref.message_id
    )
    assert row.accepted is None, "its end wipes it"
