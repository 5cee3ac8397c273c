"""GET /v1/messages/{id}: a message as its owner sees it, and as nobody else does."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chassis.testing.waiting import eventually
from contracts.errors import ErrorCode
from contracts.facts import MessageDeferred, MessageDispatched, MessageDispatchFailed, ReceiptRecorded
from contracts.facts.messages import DeferReason, Proof
from contracts.status import Status
from contracts.values import Category, Environment, MessageRef

from .running import Account, RunningApi, code_of


async def accepted(api: RunningApi, account: Account, **body: Any) -> tuple[str, MessageRef]:
    """Send, and how other services speak about the message."""
    answer = await api.send(account.key, **body)
    assert answer.status_code == 202, answer.text
    row = (await api.rows("SELECT * FROM api.messages WHERE id = $1", UUID(answer.json()["id"])))[0]
    return answer.json()["id"], MessageRef(
        message_id=row["id"],
        tenant_id=row["tenant_id"],
        project_id=row["project_id"],
        number_id=row["number_id"],
        instance=row["instance"],
        environment=Environment(row["environment"]),
        category=Category(row["category"]),
        correlation_id=row["correlation_id"],
    )


async def becomes(api: RunningApi, account: Account, message_id: str, status: str) -> dict[str, object]:
    """Wait for a status; the details then."""
    details: dict[str, object] = {}

    async def look() -> bool:
        details.update((await api.get(account.key, f"messages/{message_id}")).json())
        return details["status"] == status

    await eventually(look, f"the message {status}")
    return details


async def test_a_new_message_reads_back_with_its_recipient(api: RunningApi) -> None:
    account = await api.account()
    answer = await api.send(account.key, destinationNumber="+55 (47) 99100-0000", text="Olá")
    details = (await api.get(account.key, f"messages/{answer.json()['id']}")).json()
    assert details["destinationNumber"] == "+5547991000000"
    assert (details["status"], details["version"], details["origin"]) == ("QUEUED", 1, "API")
    assert details["createdAt"] == answer.json()["createdAt"]
    assert details["deliverBy"] == details["createdAt"]
    for nothing_yet in (
        "externalMessageId",
        "dispatchedAt",
        "sentAt",
        "deliveredAt",
        "readAt",
        "failedAt",
        "errorCode",
    ):
        assert details[nothing_yet] is None
    assert "template" not in details


async def test_it_is_found_by_three_ids_and_by_its_own_project_alone(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    sibling = await api.key(account.project_id)
    message_id, ref = await accepted(api, account)
    key_id = f"3EB0{uuid4().hex.upper()}"
    now = datetime.now(UTC)
    await api.say(MessageDispatched(ref=ref, attempt=1, key_id=key_id, dispatched_at=now, proof=Proof.RESPONSE))
    await becomes(api, account, message_id, "DISPATCHED")
    for reference in (message_id, message_id.upper(), ref.correlation_id, key_id):
        for path in (f"messages/{reference}", f"messages/{reference}/timeline"):
            assert (await api.get(account.key, path)).json()["id"] == message_id
            assert (await api.get(sibling, path)).json()["id"] == message_id
            assert code_of(await api.get(other.key, path)) == (404, "MESSAGE_NOT_FOUND")


@pytest.mark.parametrize("reference", ["unknown", str(uuid4()), "a/b", "%2e%2e", "x" * 3_000, "é", "' OR 1=1"])
async def test_an_unknown_message_is_404(api: RunningApi, reference: str) -> None:
    account = await api.account()
    assert code_of(await api.get(account.key, f"messages/{reference}")) == (404, "MESSAGE_NOT_FOUND")


async def test_facts_move_the_status_and_fill_the_timeline(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    start = datetime.now(UTC).replace(microsecond=0)
    facts = [
        MessageDeferred(ref=ref, attempt=0, reason=DeferReason.PACED),
        MessageDispatched(ref=ref, attempt=1, key_id="3EB0A", dispatched_at=start, proof=Proof.RESPONSE),
        ReceiptRecorded(ref=ref, key_id="3EB0A", status=Status.SENT, occurred_at=start + timedelta(seconds=1)),
        ReceiptRecorded(ref=ref, key_id="3EB0A", status=Status.READ, occurred_at=start + timedelta(seconds=2)),
    ]
    for fact in facts:
        await api.say(fact)
    details = await becomes(api, account, message_id, "READ")
    assert details["externalMessageId"] == "3EB0A"
    assert str(details["dispatchedAt"]).startswith(start.isoformat()[:19])
    assert details["readAt"] is not None
    timeline = (await api.get(account.key, f"messages/{message_id}/timeline")).json()
    assert timeline["steps"][0]["what"] == "accepted"
    assert sorted(step["what"] for step in timeline["steps"]) == [
        "accepted", "deferred", "dispatched", "receipt", "receipt",
    ]  # fmt: skip
    assert {step["round"] for step in timeline["steps"]} == {1}


async def test_a_failure_says_why(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    now = datetime.now(UTC)
    await api.say(MessageDispatchFailed(ref=ref, attempt=1, error_code=ErrorCode.WHATSAPP_NOT_EXIST, failed_at=now))
    details = await becomes(api, account, message_id, "FAILED")
    assert details["errorCode"] == "WHATSAPP_NOT_EXIST"
    assert details["errorMessage"]
    assert details["failedAt"]
    await api.say(ReceiptRecorded(ref=ref, key_id="3EB0B", status=Status.DELIVERED, occurred_at=now))
    details = await becomes(api, account, message_id, "DELIVERED")
    assert (details["errorCode"], details["errorMessage"]) == (None, None)
