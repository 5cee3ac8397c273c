"""Case 12: a chat is a phone in one event and a LID in the next; receipts are matched by their key all the same."""

from collections.abc import Mapping

import pytest

from gateways.evolution.webhooks import translate
from gateways.port import Alias, Receipt, ReceiptStatus

LID, PHONE = "100000000000001", "5547991234567"
PHONE_JID = f"{PHONE}@s.whatsapp.net"
DELIVERED = Receipt(instance="shop", key_id="K3", status=ReceiptStatus.DELIVERED)


def update(data: object) -> Mapping[str, object]:
    return {"event": "messages.update", "instance": "shop", "data": data}


def flat(status: object, **names: object) -> Mapping[str, object]:
    return {"keyId": "K3", "fromMe": True, "status": status, "messageId": "c1", **names}


@pytest.mark.parametrize("holder", ["item", "key"])
@pytest.mark.parametrize("alternative", ["remoteJidAlt", "senderPn", "participantPn", None])
def test_case_12_a_receipt_from_a_lid_is_matched_by_its_key_and_names_the_person_if_it_can(
    holder: str, alternative: str | None
) -> None:
    names = {"remoteJid": f"{LID}:7@lid", "addressingMode": "lid"} | ({alternative: PHONE_JID} if alternative else {})
    nested = {"key": {"id": "K3", "fromMe": True, **names}, "update": {"status": 3}}
    known = [Alias(instance="shop", lid=LID, phone=PHONE)] if alternative else []
    said = translate(update(flat("DELIVERY_ACK", **names) if holder == "item" else nested))
    assert list(said) == [DELIVERED, *known]
    assert LID not in repr(said)
    assert PHONE not in repr(said)


def test_case_12_a_phone_may_come_first_and_the_lid_beside_it() -> None:
    data = flat("READ", remoteJid=PHONE_JID, remoteJidAlt=f"{LID}@lid")
    assert translate(update(data))[1:] == (Alias(instance="shop", lid=LID, phone=PHONE),)


@pytest.mark.parametrize(
    ("names", "sender"),
    [
        ({"remoteJid": f"{LID}@lid", "senderPn": PHONE_JID}, PHONE_JID),
        ({"remoteJid": "120363000000000000@g.us", "participantPn": PHONE_JID, "remoteJidAlt": f"{LID}@lid"}, None),
        ({"remoteJid": PHONE_JID, "remoteJidAlt": PHONE_JID}, None),
        ({"remoteJid": f"{LID}@lid", "remoteJidAlt": "200000000000002@lid"}, None),
    ],
)
def test_case_12_case_21_nobody_is_taken_for_somebody_else(names: Mapping[str, object], sender: str | None) -> None:
    """Not the number itself, nobody in a group, and no LID for a phone."""
    assert translate({**update(flat("DELIVERY_ACK", **names)), "sender": sender}) == (DELIVERED,)
