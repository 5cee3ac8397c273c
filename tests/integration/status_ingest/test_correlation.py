"""Receipts meet their message in whatever order, and count once however often they come."""

import asyncio
import contextlib
import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.facts import EchoObserved, ReceiptRecorded
from contracts.matching import RECIPIENT_PURPOSE, TEXT_PURPOSE, text_key
from contracts.status import Status
from gateways.port import ReceiptStatus
from gateways.recipients import recipient_key
from status_ingest import store
from status_ingest.domain import findings
from status_ingest.domain.findings import HeardReceipt, MessageKey, ReceiptKey
from status_ingest.usecases import learn_keys as learning
from status_ingest.usecases import tell_findings
from status_ingest.usecases.learn_keys import learn_keys

from .conftest import PEPPER, Service, dispatched, reference, update


class KilledError(Exception):
    """Stands for the end of a process."""


STEPS = ("SERVER_ACK", "READ", "key")


@pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
async def test_every_order_of_receipts_and_key_tells_each_receipt_once(
    service: Service, order: tuple[str, ...]
) -> None:
    ref = reference()
    for step in order:
        if step == "key":
            await service.keys.submit(dispatched(ref, "K1"))
        else:
            assert (await service.post(update("K1", step))).status_code == 200
            await service.interpret()
    said = await service.said(ReceiptRecorded)
    assert sorted(fact.status for fact in said) == [Status.READ, Status.SENT]
    assert {fact.ref for fact in said} == {ref}
    assert {fact.key_id for fact in said} == {"K1"}


async def test_case_6_receipts_before_their_key_are_parked_and_then_told_oldest_first(service: Service) -> None:
    for status in ("SERVER_ACK", "DELIVERY_ACK"):
        await service.post(update("K2", status))
    await service.interpret()
    assert await service.said(ReceiptRecorded) == []
    parked = await service.rows("SELECT status FROM status_ingest.receipts WHERE recorded_at IS NULL")
    assert {row.status for row in parked} == {"SENT", "DELIVERED"}
    await service.keys.submit(dispatched(reference(), "K2"))
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.SENT, Status.DELIVERED]
    assert await service.rows("SELECT 1 FROM status_ingest.receipts WHERE recorded_at IS NULL") == []


async def test_case_6_an_echo_before_the_answer_proves_recipient_and_text_by_hash_alone(service: Service) -> None:
    data = {
        "key": {"id": "K2", "fromMe": True, "remoteJid": "5547991000000@s.whatsapp.net"},
        "message": {"conversation": " Your code is 1234 "},
        "status": "PENDING",
    }
    for _ in range(3):
        await service.post({"event": "send.message", "instance": "loja", "data": data})
    await service.interpret()
    (echo,) = await service.said(EchoObserved)
    assert (echo.instance, echo.key_id) == ("loja", "K2")
    assert echo.recipient_hash == PEPPER.hash(recipient_key("554791000000"), purpose=RECIPIENT_PURPOSE)
    assert echo.text_hash == PEPPER.hash(text_key("Your code is 1234"), purpose=TEXT_PURPOSE)


async def test_an_echo_without_a_phone_is_told_without_recipient(service: Service) -> None:
    data = {"key": {"id": "K9", "fromMe": True, "remoteJid": "100000000000001@lid"}, "message": {"conversation": "x"}}
    await service.post({"event": "send.message", "instance": "loja", "data": data})
    await service.interpret()
    (echo,) = await service.said(EchoObserved)
    assert echo.recipient_hash is None
    assert echo.text_hash is not None


async def test_case_49_ten_repeats_are_one_receipt_and_another_status_is_another(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K4"))
    for second in range(10):
        moment = f"2025-06-02T09:00:0{second}.000Z"
        await service.post(update("K4", "DELIVERY_ACK", date_time=moment))
        await service.interpret()
    await service.post(update("K4", "READ"))
    await service.interpret()
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.DELIVERED, Status.READ]


async def test_case_49_repeats_posted_at_once_to_two_replicas_are_one_receipt(
    service: Service, second: Service
) -> None:
    await service.keys.submit(dispatched(reference(), "K5"))
    replicas = (service, second)
    posts = [replica.post(update("K5", "DELIVERY_ACK")) for _ in range(20) for replica in replicas]
    assert {answer.status_code for answer in await asyncio.gather(*posts)} == {200}
    await asyncio.gather(*(replica.interpreter.interpret(limit=5) for _ in range(5) for replica in replicas))
    await service.interpret()
    assert len(await service.rows("SELECT 1 FROM status_ingest.raw_events WHERE interpreted_at IS NOT NULL")) == 40
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.DELIVERED]


async def test_the_key_and_its_receipts_arriving_together_never_miss_each_other(
    service: Service, second: Service
) -> None:
    keys = [f"R{number}" for number in range(60)]
    refs = {key: reference() for key in keys}
    for key in keys:
        await service.post(update(key, "SERVER_ACK"))
        await service.post(update(key, "DELIVERY_ACK"))
    learning = [second.keys.submit(dispatched(refs[key], key)) for key in keys]
    interpreting = [replica.interpreter.interpret(limit=7) for _ in range(10) for replica in (service, second)]
    await asyncio.gather(*learning, *interpreting)
    await service.interpret()
    said = await service.said(ReceiptRecorded)
    assert sorted((fact.key_id, fact.status) for fact in said) == sorted(
        (key, status) for key in keys for status in (Status.SENT, Status.DELIVERED)
    )
    assert all(fact.ref == refs[fact.key_id] for fact in said)


async def blocked_or_done(service: Service, work: asyncio.Task[object]) -> None:
    """Until `work` waits for a lock of ours or has gone past it."""
    query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(10):
        while not work.done() and not await service.rows(query):  # noqa: ASYNC110 - nobody announces a lock
            await asyncio.sleep(0.01)


async def test_a_key_learnt_while_a_receipt_is_being_parked_waits_and_finds_it(
    service: Service, second: Service
) -> None:
    await service.post(update("K1", "SERVER_ACK"))
    await service.interpret()
    key = MessageKey(instance="loja", key_id="K1")
    read = HeardReceipt(key=ReceiptKey(message=key, status=ReceiptStatus.READ), occurred_at=datetime.now(UTC))
    async with service.database.transaction() as tx:
        assert await store.lock_correlations(tx, [key]) == {}
        learning = asyncio.create_task(second.keys.submit(dispatched(reference(), "K1")))
        await blocked_or_done(service, learning)
        await store.insert_receipts(tx, [read], known=())
    await learning
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.SENT, Status.READ]


async def test_a_receipt_heard_while_its_key_is_being_learnt_waits_and_is_told(
    service: Service, second: Service
) -> None:
    await service.post(update("K1", "SERVER_ACK"))
    await service.interpret()
    await service.post(update("K1", "READ"))
    async with service.database.transaction() as tx:
        await learn_keys(tx, [dispatched(reference(), "K1")])
        interpreting = asyncio.create_task(second.interpreter.interpret(limit=10))
        await blocked_or_done(service, interpreting)
    await interpreting
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.SENT, Status.READ]


async def test_case_8_the_same_key_in_two_instances_is_two_messages(service: Service) -> None:
    here, there = reference("loja"), reference("outra")
    await service.keys.submit(dispatched(here, "K3"))
    await service.post(update("K3", "DELIVERY_ACK", instance="outra"))
    await service.interpret()
    assert await service.said(ReceiptRecorded) == []
    await service.keys.submit(dispatched(there, "K3"))
    await service.post(update("K3", "READ", instance="loja"))
    await service.interpret()
    said = [(fact.ref.instance, fact.status) for fact in await service.said(ReceiptRecorded)]
    assert said == [("outra", Status.DELIVERED), ("loja", Status.READ)]


async def test_a_repeated_dispatch_says_nothing_again_and_the_first_message_keeps_its_key(service: Service) -> None:
    ref = reference()
    await service.keys.submit(dispatched(ref, "K6"))
    await service.post(update("K6", "READ"))
    await service.interpret()
    await service.keys.submit(dispatched(ref, "K6"))
    await service.keys.submit(dispatched(reference(), "K6"))
    await service.post(update("K6", "ERROR"))
    await service.interpret()
    assert [(fact.ref, fact.status) for fact in await service.said(ReceiptRecorded)] == [
        (ref, Status.READ),
        (ref, Status.FAILED),
    ]


async def test_case_5_our_clock_dates_a_receipt_and_not_the_gateways(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K7"))
    await service.post(update("K7", "READ", date_time="2020-01-01T09:00:05.000Z"))
    await service.interpret()
    (row,) = await service.rows("SELECT received_at FROM status_ingest.raw_events")
    (fact,) = await service.said(ReceiptRecorded)
    assert fact.occurred_at == row.received_at


async def test_a_restart_between_edge_and_interpretation_loses_nothing(service: Service, second: Service) -> None:
    """The first replica dies in the middle of its transaction; the event is there for the next one."""
    await service.keys.submit(dispatched(reference(), "K8"))
    await service.post(update("K8", "READ"))

    async def die_while_interpreting() -> None:
        async with service.database.transaction() as tx:
            (event,) = await store.claim_raw_events(tx, limit=10)
            await store.mark_interpreted(tx, [event.id])
            raise KilledError

    with pytest.raises(KilledError):
        await die_while_interpreting()
    assert await service.said(ReceiptRecorded) == []
    await second.interpret()
    assert [fact.status for fact in await second.said(ReceiptRecorded)] == [Status.READ]


async def test_receipts_are_told_of_the_round_whose_key_they_are_about(service: Service) -> None:
    """A message was sent again in another round, under another key; the first one's late receipts stay its own."""
    first = reference()
    second = first.model_copy(update={"round": 2})
    await service.keys.submit(dispatched(first, "K1"))
    await service.keys.submit(dispatched(second, "K2"))
    for key_id, status in (("K2", "SERVER_ACK"), ("K1", "READ"), ("K2", "DELIVERY_ACK")):
        await service.post(update(key_id, status))
    await service.interpret()
    said = {(fact.ref.round, fact.status) for fact in await service.said(ReceiptRecorded)}
    assert said == {(2, Status.SENT), (1, Status.READ), (2, Status.DELIVERED)}


@pytest.mark.parametrize("key_first", [True, False])
async def test_case_49_what_was_marked_as_seen_and_then_failed_is_told_by_the_next_try(
    service: Service, second: Service, monkeypatch: pytest.MonkeyPatch, key_first: bool
) -> None:
    """The report is written, then its fact cannot be made: neither may stay without the other."""
    make, failures = findings.receipt_fact, [True, True]

    def fail_at_first(*known: Any) -> ReceiptRecorded:
        if failures:
            failures.pop()
            raise RuntimeError("after the mark")
        return make(*known)

    monkeypatch.setattr(tell_findings, "receipt_fact", fail_at_first)
    monkeypatch.setattr(learning, "receipt_fact", fail_at_first)
    fact = dispatched(reference(), "K1")
    if key_first:
        await service.keys.submit(fact)
    await service.post(update("K1", "READ"))
    for _ in failures * 2:
        if key_first:
            with contextlib.suppress(RuntimeError):
                await service.interpreter.interpret(limit=10)
        else:
            await service.interpret()
            with contextlib.suppress(RuntimeError):
                await second.keys.submit(fact)
    assert failures == []
    assert [told.status for told in await service.said(ReceiptRecorded)] == [Status.READ]
    assert await service.rows("SELECT 1 FROM status_ingest.quarantine") == []


async def test_case_49_case_08l_two_replicas_keep_two_instances_with_one_key_apart(
    service: Service, second: Service
) -> None:
    refs = {instance: reference(instance) for instance in ("loja", "outra")}
    for ref in refs.values():
        await service.keys.submit(dispatched(ref, "K1"))
    posts = [
        replica.post(update("K1", status, instance=instance, date_time=f"2025-06-02T09:00:{number:02d}.000Z"))
        for number in range(10)
        for instance, status in (("loja", "DELIVERY_ACK"), ("outra", "SERVER_ACK"), ("outra", "DELIVERY_ACK"))
        for replica in (service, second)
    ]
    async with asyncio.timeout(30):
        await asyncio.gather(*posts)
        await asyncio.gather(*(each.interpreter.interpret(limit=8) for _ in range(5) for each in (service, second)))
        await service.interpret()
    said = sorted((fact.ref.instance, fact.status) for fact in await service.said(ReceiptRecorded))
    assert said == [("loja", Status.DELIVERED), ("outra", Status.DELIVERED), ("outra", Status.SENT)]
    assert {fact.ref for fact in await service.said(ReceiptRecorded)} == set(refs.values())


async def test_case_49_a_poison_entry_of_an_array_spoils_none_of_its_siblings(service: Service) -> None:
    items: list[object] = []
    for number in range(5):
        await service.keys.submit(dispatched(reference(), f"K{number}"))
        items += [{"keyId": f"K{number}", "status": 4}, [None, "x", {"messageId": "c1"}, {"keyId": 7}][number % 4]]
    await service.post({"event": "messages.update", "instance": "loja", "data": items})
    await service.interpret()
    assert sorted(fact.key_id for fact in await service.said(ReceiptRecorded)) == [f"K{number}" for number in range(5)]
    (row,) = await service.rows("SELECT reason FROM status_ingest.quarantine")
    assert row.reason == "data_not_an_object"
