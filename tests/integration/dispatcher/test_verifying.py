"""Whoever asks for proof hears where the job is and what the gateway's own store proves; nothing is sent for that."""

from dataclasses import replace

import pytest

from contracts.commands import VerifyMessage
from contracts.facts import MessageDispatched, MessageDispatchFailed, ReceiptRecorded
from contracts.facts.messages import Proof
from contracts.facts.receipts import ReceiptSource
from contracts.status import Status
from contracts.values import MessageRef
from dispatcher.usecases.verify_message import ProveMessage
from gateways.port import ReceiptStatus, RefusalCode, Refused

from .rig import RECIPIENT, TEXT, Rig
from .sealing import KEYS


async def verify(rig: Rig, ref: MessageRef, key_id: str | None = None) -> None:
    prove = ProveMessage(database=rig.database, lookup=rig.gateway, keys=KEYS, clock=rig.now)
    await prove(VerifyMessage(ref=ref, key_id=key_id))


def stored(rig: Rig, key_id: str, *statuses: ReceiptStatus) -> None:
    rig.gateway.store(RECIPIENT, TEXT, key_id)
    rig.gateway.stored[-1] = replace(rig.gateway.stored[-1], statuses=statuses)


async def sent(rig: Rig) -> MessageRef:
    await rig.open_lane()
    [ref] = await rig.accept()
    await rig.dispatch()
    return ref


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ((ReceiptStatus.SENT,), Status.SENT),
        ((ReceiptStatus.READ, ReceiptStatus.SENT, ReceiptStatus.DELIVERED), Status.READ),
        ((ReceiptStatus.SENT, ReceiptStatus.FAILED), Status.FAILED),
        ((ReceiptStatus.FAILED, ReceiptStatus.DELIVERED), Status.DELIVERED),
    ],
)
async def test_the_furthest_that_the_store_knows_is_told(
    rig: Rig, statuses: tuple[ReceiptStatus, ...], status: Status
) -> None:
    ref = await sent(rig)
    stored(rig, "K1", *statuses)
    await verify(rig, ref)
    [receipt] = await rig.said(ReceiptRecorded)
    assert (receipt.ref, receipt.key_id, receipt.status) == (ref, "K1", status)
    assert receipt.source is ReceiptSource.POLL
    assert len(rig.gateway.sent) == 1


@pytest.mark.parametrize("is_mute", [True, False], ids=["mute", "forgetful"])
async def test_a_gateway_that_knows_nothing_changes_nothing(rig: Rig, is_mute: bool) -> None:
    ref = await sent(rig)
    rig.gateway.is_mute = is_mute
    await verify(rig, ref)
    assert [fact.key_id for fact in await rig.said(MessageDispatched)] == ["K1", "K1"]
    assert await rig.said(ReceiptRecorded) == []
    assert len(rig.gateway.sent) == 1
    assert (await rig.job(ref)).state == "DISPATCHED"


async def test_a_job_that_was_lost_is_proved_by_the_id_that_the_ledger_knows(rig: Rig) -> None:
    await rig.open_lane()
    lost = rig.message()
    stored(rig, "K-LOST", ReceiptStatus.DELIVERED)
    await verify(rig, lost.ref, "K-LOST")
    [dispatched] = await rig.said(MessageDispatched)
    assert (dispatched.ref, dispatched.key_id, dispatched.proof) == (lost.ref, "K-LOST", Proof.LOOKUP)
    assert [receipt.status for receipt in await rig.said(ReceiptRecorded)] == [Status.DELIVERED]
    assert await rig.rows("SELECT 1 FROM dispatcher.jobs") == []


async def test_a_failure_is_told_again(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(Refused(code=RefusalCode.GATEWAY_REFUSED))
    await rig.dispatch()
    await verify(rig, ref)
    assert [fact.ref for fact in await rig.said(MessageDispatchFailed)] == [ref, ref]


async def test_of_what_nobody_knows_nothing_is_said(rig: Rig) -> None:
    await rig.open_lane()
    await verify(rig, rig.message().ref)
    await verify(rig, rig.message(instance="elsewhere").ref, "K9")
    assert await rig.said(MessageDispatched) == []
    assert await rig.said(ReceiptRecorded) == []
