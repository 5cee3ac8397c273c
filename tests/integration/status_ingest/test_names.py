"""Whose a receipt or an echo is when the gateway calls the message or the person by another name."""

from datetime import UTC, datetime

import pytest

from contracts.facts import EchoObserved, MessageUncertain, ReceiptRecorded
from contracts.matching import RECIPIENT_PURPOSE
from contracts.status import Status
from contracts.values import MessageRef
from gateways.recipients import recipient_key
from gateways.reserved import reserved_id

from .conftest import PEPPER, Service, dispatched, reference, update

LID, PHONE = "100000000000001", "5547991000000"
LID_JID, PHONE_JID = f"{LID}@lid", f"{PHONE}@s.whatsapp.net"
BEHIND = PEPPER.hash(recipient_key(PHONE), purpose=RECIPIENT_PURPOSE)


def uncertain(ref: MessageRef) -> MessageUncertain:
    """The dispatcher's word that a call was never answered."""
    return MessageUncertain(ref=ref, attempt=1, reason="TIMEOUT", resolve_by=datetime.now(UTC))


def echo(key_id: str, *, instance: str = "loja", **names: object) -> dict[str, object]:
    """A sent message as the gateway repeats it."""
    key = {"id": key_id, "fromMe": True, "remoteJid": LID_JID, **names}
    return {"event": "send.message", "instance": instance, "data": {"key": key, "message": {"conversation": "hi"}}}


@pytest.mark.parametrize("receipt_first", [True, False])
async def test_case_06_a_receipt_under_the_id_that_we_reserved_proves_an_unanswered_send(
    service: Service, receipt_first: bool
) -> None:
    ref = reference()
    receipt = update(reserved_id(ref.message_id, ref.round), "DELIVERY_ACK")
    if receipt_first:
        await service.post(receipt)
        await service.interpret()
    await service.keys.submit(uncertain(ref))
    if not receipt_first:
        await service.post(receipt)
        await service.interpret()
    said = await service.said(ReceiptRecorded)
    assert [(fact.ref, fact.status, fact.key_id) for fact in said] == [
        (ref, Status.DELIVERED, reserved_id(ref.message_id, ref.round))
    ]


async def test_case_06_a_reserved_id_that_was_not_honoured_is_nobodys(service: Service) -> None:
    ref = reference()
    await service.keys.submit(uncertain(ref))
    await service.keys.submit(dispatched(ref, "K1"))
    await service.post(update("K1", "READ"))
    await service.post(update(reserved_id(ref.message_id, 2), "READ"))
    await service.interpret()
    assert [(fact.ref, fact.key_id) for fact in await service.said(ReceiptRecorded)] == [(ref, "K1")]


@pytest.mark.parametrize(
    "names",
    [
        {"remoteJid": LID_JID, "remoteJidAlt": PHONE_JID},
        {"remoteJid": f"{LID}:3@lid", "senderPn": PHONE_JID},
        {"remoteJid": "554791000000@s.whatsapp.net", "remoteJidAlt": LID_JID},
    ],
)
async def test_case_12_who_was_named_both_ways_is_known_by_the_lid_alone(
    service: Service, names: dict[str, str]
) -> None:
    receipt = update("K1", "DELIVERY_ACK")
    await service.post({**receipt, "data": {"keyId": "K1", "status": 3, **names}})
    await service.interpret()
    for instance in ("loja", "outra"):
        await service.post(echo("K2", instance=instance))
    await service.post(echo("K3", remoteJid="200000000000002@lid"))
    await service.interpret()
    found = {(fact.instance, fact.key_id): fact.recipient_hash for fact in await service.said(EchoObserved)}
    assert found == {("loja", "K2"): BEHIND, ("loja", "K3"): None, ("outra", "K2"): None}
    rows = [str(row) for row in await service.rows("SELECT * FROM status_ingest.lids")]
    assert len(rows) == 1
    assert not any(name in row for row in rows for name in (LID, PHONE, "554791000000"))


async def test_case_12_a_lid_that_moves_to_another_phone_is_believed_of_the_newer_one(service: Service) -> None:
    for phone in ("5511990000001", PHONE):
        await service.post(echo(f"K{phone}", remoteJidAlt=f"{phone}@s.whatsapp.net"))
        await service.interpret()
    await service.post(echo("K2"))
    await service.interpret()
    assert (await service.said(EchoObserved))[-1].recipient_hash == BEHIND
