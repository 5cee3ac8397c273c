"""What receipts tell: first contacts that are refused, and what was uncertain."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from contracts.facts import MessageDispatched
from contracts.facts.messages import Proof
from contracts.status import Status
from contracts.values import MessageRef
from gateways.port import Unknown, UnknownReason

from .fleet import alerts, hear, receipt, send, stranger
from .rig import Rig


async def refuse(rig: Rig, refs: Sequence[MessageRef], *, at: datetime | None = None) -> None:
    await hear(rig, *(receipt(ref, Status.FAILED, at=at or rig.now()) for ref in refs))


async def test_case_43_refused_first_contacts_stop_further_ones_and_known_chats_go_on(rig: Rig) -> None:
    await rig.open_lane()
    [known] = await send(rig, 1, start=500)
    await hear(rig, receipt(known, Status.DELIVERED, at=rig.now()))
    rig.now.pass_(3_600)
    before = alerts("first_contacts_refused")
    refs = await send(rig, 10)
    await refuse(rig, refs[:2])
    assert (await rig.lane()).cold_until is None
    await refuse(rig, refs[2:])
    assert (await rig.lane()).cold_until == rig.now() + timedelta(hours=24)
    assert alerts("first_contacts_refused") == before + 1
    sent = len(rig.gateway.sent)
    waiting = await send(rig, 3, start=100)
    assert len(rig.gateway.sent) == sent, "no first contact leaves"
    [again] = await rig.accept(to=stranger(500), said="to a friend")
    await rig.dispatch()
    assert (await rig.job(again)).state == "DISPATCHED", "known chats continue"
    rig.now.pass_(86_401)
    while await rig.dispatch():
        pass
    assert {(await rig.job(ref)).state for ref in waiting} == {"DISPATCHED"}


async def test_case_43_nothing_refused_is_sent_again(rig: Rig) -> None:
    await rig.open_lane()
    refs = await send(rig, 10)
    sent = len(rig.gateway.sent)
    await refuse(rig, refs)
    rig.now.pass_(90_000)
    await rig.resolve()
    assert await rig.dispatch() == []
    assert len(rig.gateway.sent) == sent
    assert {(await rig.job(ref)).receipt for ref in refs} == {"FAILED"}


async def test_case_43_one_that_arrives_shows_that_the_number_is_not_restricted(rig: Rig) -> None:
    await rig.open_lane()
    refs = await send(rig, 10)
    await hear(rig, receipt(refs[0], Status.DELIVERED, at=rig.now()))
    await refuse(rig, refs[1:])
    assert (await rig.lane()).cold_until is None


async def test_refusals_that_are_far_apart_are_no_restriction(rig: Rig) -> None:
    await rig.open_lane()
    refs = await send(rig, 3)
    for ref in refs:
        await refuse(rig, [ref])
        rig.now.pass_(301)
    assert (await rig.lane()).cold_until is None


async def test_failures_among_known_chats_say_nothing_about_first_contacts(rig: Rig) -> None:
    await rig.open_lane()
    await send(rig, 5)
    rig.now.pass_(3_600)
    refs = await send(rig, 5)
    assert not any([(await rig.job(ref)).cold for ref in refs])
    await refuse(rig, refs)
    assert (await rig.lane()).cold_until is None


async def test_whom_a_refused_first_contact_was_for_is_still_a_stranger(rig: Rig) -> None:
    await rig.open_lane()
    refs = await send(rig, 2)
    await refuse(rig, refs[:1])
    rows = await rig.rows("SELECT recipient_hash FROM dispatcher.contacts")
    assert [row.recipient_hash for row in rows] == [(await rig.job(refs[1])).recipient_hash]
    [again] = await rig.accept(to=stranger(0), said="again")
    assert (await rig.job(again)).cold


async def test_a_refused_text_is_not_the_last_one_that_was_said(rig: Rig) -> None:
    await rig.open_lane(platform_default=True)
    await send(rig, 1)
    rig.now.pass_(60)
    [second] = await rig.accept(to=stranger(0), said="second")
    await rig.dispatch()
    await refuse(rig, [second])
    [third] = await rig.accept(to=stranger(0), said="second")
    await rig.dispatch()
    assert (await rig.job(third)).state == "DISPATCHED"


async def test_receipts_are_repeatable_and_their_order_does_not_matter(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await send(rig, 1)
    for status in (Status.READ, Status.FAILED, Status.SENT, Status.DELIVERED, Status.READ):
        await hear(rig, receipt(ref, status, at=rig.now()))
    assert (await rig.job(ref)).receipt == "READ"
    first = (await rig.job(ref)).receipt_at
    rig.now.pass_(60)
    await hear(rig, receipt(ref, Status.READ, at=rig.now()), receipt(ref, Status.SENT, at=rig.now()))
    assert (await rig.job(ref)).receipt_at == first
    elsewhere = ref.model_copy(update={"instance": "outra"})
    unknown = ref.model_copy(update={"round": 7})
    await hear(rig, receipt(elsewhere, Status.FAILED, at=rig.now()), receipt(unknown, Status.FAILED, at=rig.now()))


@pytest.mark.parametrize("status", [Status.SENT, Status.READ, Status.FAILED])
async def test_a_receipt_proves_what_was_uncertain(rig: Rig, status: Any) -> None:
    """Its key was told before the job was lost and came back."""
    await rig.open_lane()
    message = rig.message()
    await rig.requeue(message, possibly_sent=True)
    await hear(rig, receipt(message.ref, status, at=rig.now(), key_id="K7"))
    job = await rig.job(message.ref)
    assert (job.state, job.key_id, job.proof, job.receipt) == ("DISPATCHED", "K7", "receipt", status.value)
    [fact] = await rig.said(MessageDispatched)
    assert (fact.key_id, fact.proof) == ("K7", Proof.RECEIPT)
    await hear(rig, receipt(message.ref, status, at=rig.now(), key_id="K7"))
    assert len(await rig.said(MessageDispatched)) == 1
    rig.now.pass_(1_800)
    await rig.resolve()
    assert await rig.dispatch() == []


async def test_a_receipt_stops_a_second_send_that_waits(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(window=7_200)
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    rig.gateway.is_mute = True
    await rig.dispatch()
    for _ in range(200):
        rig.now.pass_(10)
        await rig.resolve()
    assert (await rig.job(ref)).state in ("SCHEDULED", "READY")
    await hear(rig, receipt(ref, Status.DELIVERED, at=rig.now()))
    assert await rig.dispatch() == []
    assert (await rig.job(ref)).state == "DISPATCHED"
