"""Faults of numbers and connections: seen by a real client, and by our own gateway as the answers they must become."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from evolution_simulator.faults import Fault, FaultBook
from evolution_simulator.testing import SimulatorProcess, WebhookReceiver
from gateways.evolution import EvolutionLookup, EvolutionSender
from gateways.port import (
    Access,
    ConnectionState,
    LookupFailedError,
    NotSent,
    NotSentReason,
    Outbound,
    Taken,
    Unknown,
    UnknownReason,
)

DISCONNECTED, NOT_READY = NotSentReason.DISCONNECTED, NotSentReason.INSTANCE_NOT_READY


@pytest.fixture
async def sender() -> AsyncIterator[EvolutionSender]:
    async with EvolutionSender() as opened:
        yield opened


@pytest.fixture(autouse=True)
async def _well_again(simulator: SimulatorProcess) -> AsyncIterator[None]:
    yield
    await simulator.client.delete("/simulator/faults")


def outbound(simulator: SimulatorProcess, instance: str, number: str, **more: Any) -> Outbound:
    access = Access(base_url=simulator.url, api_key=simulator.api_key, instance=instance)
    return Outbound(access=access, recipient=number, text="ola", **more)


@pytest.mark.parametrize(
    ("fault", "first", "again"),
    [
        (
            "not_loaded",
            (500, "Cannot read properties of undefined (reading 'textMessage')"),
            (500, "Cannot read properties of undefined (reading 'textMessage')"),
        ),
        (
            "never_connected",
            (500, "Cannot read properties of undefined (reading 'onWhatsApp')"),
            (400, ["TypeError: Cannot read properties of undefined (reading 'sendMessage')"]),
        ),
        ("zombie", (500, "Connection Closed"), (400, ["Error: Connection Closed"])),
    ],
)
async def test_a_faulty_number_answers_by_whether_the_recipient_is_cached(
    simulator: SimulatorProcess, instance: str, new_number: Callable[[], str], fault: str, first: Any, again: Any
) -> None:
    known, unknown = new_number(), new_number()

    async def send(number: str) -> tuple[int, Any]:
        answer = await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})
        return answer.status_code, answer.json().get("response", {}).get("message")

    assert (await send(known))[0] == 201
    await simulator.put_fault(instance, fault)
    assert (await send(unknown), await send(known)) == (first, again)
    await simulator.put_fault(instance, None)
    assert (await send(unknown))[0] == 201
    assert [row["number"] for row in await simulator.ledger(instance=instance)] == [known, unknown]


@pytest.mark.parametrize(
    ("fault", "reason", "state"),
    [
        ("not_loaded", NOT_READY, ConnectionState.CONNECTING),
        ("never_connected", NOT_READY, ConnectionState.OPEN),
        ("zombie", DISCONNECTED, ConnectionState.OPEN),
    ],
)
async def test_case_41_our_gateway_knows_that_nothing_was_sent(
    simulator: SimulatorProcess,
    sender: EvolutionSender,
    instance: str,
    number: str,
    fault: str,
    reason: NotSentReason,
    state: ConnectionState,
) -> None:
    await simulator.put_fault(instance, fault)
    answered = await sender.send(outbound(simulator, instance, number, typing_ms=10))
    assert isinstance(answered, NotSent)
    assert answered.reason is reason
    async with EvolutionLookup() as lookup:
        assert await lookup.connection_state(outbound(simulator, instance, number).access) is state
    assert await simulator.ledger(instance=instance) == []


async def test_the_store_of_a_number_that_is_not_loaded_cannot_be_read(
    simulator: SimulatorProcess, instance: str
) -> None:
    await simulator.put_fault(instance, "not_loaded")
    access = Access(base_url=simulator.url, api_key=simulator.api_key, instance=instance)
    async with EvolutionLookup() as lookup:
        with pytest.raises(LookupFailedError):
            await lookup.sent_message(access, key_id="3EB0")
    asked = await simulator.client.post(f"/chat/whatsappNumbers/{instance}", json={"numbers": ["5511900000001"]})
    assert (asked.status_code, asked.json()) == (400, {})


async def test_a_restart_of_the_number_ends_a_zombie(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_fault(instance, "zombie")
    assert (await simulator.client.post(f"/instance/restart/{instance}")).status_code == 200
    answer = await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})
    assert answer.status_code == 201


def test_a_fault_ends_by_itself() -> None:
    now = 0.0
    book = FaultBook(monotonic=lambda: now)
    book.put("shop", Fault.NOT_LOADED, seconds=5)
    book.put("branch", Fault.ZOMBIE)
    now = 4.9
    assert book.of("shop") is Fault.NOT_LOADED
    now = 5.0
    assert (book.of("shop"), book.of("branch")) == (None, Fault.ZOMBIE)


async def test_case_43_a_restricted_number_reaches_only_whom_it_knows(
    simulator: SimulatorProcess, receiver: WebhookReceiver, instance: str, new_number: Callable[[], str]
) -> None:
    known, stranger = new_number(), new_number()

    async def statuses(number: str) -> list[str]:
        receiver.received.clear()
        body = {"number": number, "text": "x"}
        answer = await simulator.client.post(f"/message/sendText/{instance}", json=body)
        assert (answer.status_code, answer.json()["status"]) == (201, "PENDING")
        await simulator.settled()
        updates = [call.body for call in receiver.received if call.body["event"] == "messages.update"]
        assert all("messageStubParameters" not in update["data"] for update in updates), "the webhook does not say why"
        return [update["data"]["status"] for update in updates]

    assert "READ" in await statuses(known)
    await simulator.restrict(instance)
    assert await statuses(stranger) == ["ERROR"]
    assert await statuses(stranger) == ["ERROR"], "an ERROR makes nobody known"
    assert "READ" in await statuses(known)
    await simulator.restrict(instance, restricted=False)
    assert "READ" in await statuses(stranger)


@pytest.mark.parametrize(
    ("act", "reason", "accepted"),
    [
        ("reset_before", UnknownReason.CONNECTION_LOST, []),
        ("close_before", UnknownReason.CONNECTION_LOST, []),
        ("accept_then_reset", UnknownReason.CONNECTION_LOST, ["accept_then_reset"]),
        ("accept_then_close", UnknownReason.CONNECTION_LOST, ["accept_then_close"]),
        ("accept_then_cut", UnknownReason.UNREADABLE_ANSWER, ["accept_then_cut"]),
        (
            {"act": "error_400_after_send", "message": "boom"},
            UnknownReason.UNCLASSIFIED_ANSWER,
            ["error_400_after_send"],
        ),
        ("error_400_prisma_after_send", UnknownReason.STORED_AFTER_SEND_FAILED, ["error_400_prisma_after_send"]),
        (
            {"act": "error_500_after_send", "message": "boom"},
            UnknownReason.UNCLASSIFIED_ANSWER,
            ["error_500_after_send"],
        ),
        ("html_502", UnknownReason.UNREADABLE_ANSWER, []),
    ],
)
async def test_case_38_whatever_may_have_been_carried_out_is_unknown(
    simulator: SimulatorProcess,
    sender: EvolutionSender,
    instance: str,
    number: str,
    act: Any,
    reason: UnknownReason,
    accepted: list[str],
) -> None:
    await simulator.put_script(match={"number": number}, send=[act])
    answered = await sender.send(outbound(simulator, instance, number))
    assert isinstance(answered, Unknown)
    assert answered.reason is reason
    assert [row["outcome"] for row in await simulator.ledger(instance=instance)] == accepted


async def test_a_400_after_the_send_has_echo_row_and_receipts(
    simulator: SimulatorProcess, receiver: WebhookReceiver, instance: str, number: str
) -> None:
    await simulator.put_script(match={"number": number}, send=[{"act": "error_400_after_send", "message": "boom"}])
    answer = await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})
    assert (answer.status_code, answer.json()["response"]["message"]) == (400, ["boom"])
    calls = await receiver.wait_for(4)
    assert {call.body["event"] for call in calls} == {"send.message", "messages.update"}
    found = await simulator.client.post(f"/chat/findMessages/{instance}", json={"where": {}})
    assert found.json()["messages"]["total"] == 1


async def test_case_38c_a_connection_cut_before_its_request_is_read_sends_nothing(
    simulator: SimulatorProcess, sender: EvolutionSender, instance: str, number: str
) -> None:
    await simulator.client.get("/")  # the client's own connection must not be one of those that are cut
    await simulator.cut_next(2)
    for _ in range(2):
        assert isinstance(await sender.send(outbound(simulator, instance, number)), Unknown)
    assert isinstance(await sender.send(outbound(simulator, instance, number)), Taken)
    assert len(await simulator.ledger(instance=instance)) == 1


async def test_a_response_without_an_echo_and_an_echo_without_a_response(
    simulator: SimulatorProcess, receiver: WebhookReceiver, instance: str, new_number: Callable[[], str]
) -> None:
    silent, cut = new_number(), new_number()
    await simulator.put_script(match={"number": silent}, receipts={"echo": "off", "statuses": []})
    await simulator.put_script(match={"number": cut}, send=["accept_then_close"], receipts="none")
    url = f"/message/sendText/{instance}"
    assert (await simulator.client.post(url, json={"number": silent, "text": "x"})).status_code == 201
    with pytest.raises(httpx.RemoteProtocolError):
        await simulator.client.post(url, json={"number": cut, "text": "y"})
    await simulator.settled()
    echoes = [call.body["data"]["message"] for call in receiver.received if call.body["event"] == "send.message"]
    assert echoes == [{"conversation": "y"}]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("instances/nobody/fault", {"fault": "zombie"}, 404),
        ("instances/fixed/fault", {"fault": "tired"}, 422),
        ("instances/fixed/restriction", {}, 422),
        ("connections", {"cut_next": -1}, 422),
        ("listener", {"closed_seconds": 0}, 422),
        ("restart", {"forget_messages": "perhaps"}, 422),
    ],
)
async def test_a_fault_that_does_not_exist_is_refused(
    simulator: SimulatorProcess, path: str, body: dict[str, Any], status: int
) -> None:
    assert (await simulator.client.post(f"/simulator/{path}", json=body)).status_code == status
