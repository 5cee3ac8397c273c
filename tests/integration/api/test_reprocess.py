"""POST /v1/admin/messages/{id}/reprocess: what failed is sent again in a new round, and old news is history."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from contracts.errors import ErrorCode
from contracts.facts import (
    MessageAccepted,
    MessageDispatched,
    MessageDispatchFailed,
    MessageStatusChanged,
    ReceiptRecorded,
)
from contracts.facts.messages import Proof
from contracts.status import Status
from contracts.values import ConnectionState, MessageRef

from .running import DESTINATION, OPERATOR_KEY, Account, RunningApi, code_of, soon
from .stored import fail
from .test_read import accepted, becomes


async def reprocess(api: RunningApi, message_id: str, *, key: str = OPERATOR_KEY) -> httpx.Response:
    return await api.client.post(f"/v1/admin/messages/{message_id}/reprocess", headers={"x-operator-key": key})


async def failed(
    api: RunningApi, account: Account, code: ErrorCode = ErrorCode.GATEWAY_REFUSED, **body: Any
) -> tuple[str, MessageRef]:
    """A message whose failure was heard of."""
    message_id, ref = await accepted(api, account, **body)
    await api.say(MessageDispatchFailed(ref=ref, attempt=1, error_code=code, failed_at=datetime.now(UTC)))
    await becomes(api, account, message_id, "FAILED")
    return message_id, ref


def dispatched(ref: MessageRef, key_id: str) -> MessageDispatched:
    return MessageDispatched(ref=ref, attempt=1, key_id=key_id, dispatched_at=datetime.now(UTC), proof=Proof.RESPONSE)


def receipt(ref: MessageRef, key_id: str, status: Any) -> ReceiptRecorded:
    return ReceiptRecorded(ref=ref, key_id=key_id, status=status, occurred_at=datetime.now(UTC))


async def row_of(api: RunningApi, message_id: str) -> Any:
    [row] = await api.rows("SELECT * FROM api.messages WHERE id = $1", UUID(message_id))
    return row


async def test_a_failed_message_is_queued_again_in_the_next_round(api: RunningApi) -> None:
    account = await api.account()
    message_id, _ = await failed(api, account)
    before = await row_of(api, message_id)
    answer = await reprocess(api, message_id)
    assert answer.status_code == 202, answer.text
    body = answer.json()
    assert (body["id"], body["status"], body["round"]) == (message_id, "QUEUED", 2)
    assert body["duplicatePossible"] is False
    details = (await api.get(account.key, f"messages/{message_id}")).json()
    assert (details["status"], details["version"]) == ("QUEUED", before["version"] + 1)
    assert (details["errorCode"], details["failedAt"]) == (None, None)
    row = await row_of(api, message_id)
    assert row["deliver_until"] - row["deliver_by"] == before["deliver_until"] - before["deliver_by"]
    assert row["deliver_by"] > before["deliver_by"]
    [entry] = await api.rows(
        "SELECT action, before, after FROM api.audit_entries WHERE request_id = $1", answer.headers["x-request-id"]
    )
    assert entry["action"] == "message.reprocess"
    assert '"FAILED"' in entry["before"]
    assert '"QUEUED"' in entry["after"]
    listed = (await api.get(account.key, "messages?status=QUEUED")).json()["messages"]
    assert [message["id"] for message in listed] == [message_id]


async def test_the_new_round_is_told_once_with_the_same_content(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await failed(api, account)
    sealed = (await row_of(api, message_id))["sealed"]
    spy = await api.channel.declare_queue(f"spy-{uuid4().hex}", exclusive=True)
    await spy.bind("pilot.facts", f"message.accepted.{ref.instance}")
    await spy.bind("pilot.facts", "message.status_changed")
    assert (await reprocess(api, message_id)).status_code == 202
    heard: list[Any] = []

    async def both() -> bool:
        while (message := await spy.get(no_ack=True, fail=False)) is not None:
            kind = MessageAccepted if message.type == MessageAccepted.TYPE else MessageStatusChanged
            fact = kind.model_validate_json(message.body)
            if str(fact.ref.message_id) == message_id:
                heard.append(fact)
        return len(heard) >= 2

    await soon(both, "the facts of the new round")
    changed = next(fact for fact in heard if isinstance(fact, MessageStatusChanged))
    fresh = next(fact for fact in heard if isinstance(fact, MessageAccepted))
    assert (changed.previous, changed.status, changed.ref.round) == (Status.FAILED, Status.QUEUED, 2)
    assert (fresh.ref.round, fresh.sealed, fresh.duplicate_possible) == (2, sealed, False)
    assert fresh.ref == ref.model_copy(update={"round": 2})
    assert fresh.deliver_until > datetime.now(UTC) + timedelta(minutes=1)
    assert len(heard) == 2


async def test_late_facts_of_the_old_round_touch_the_timeline_only(api: RunningApi) -> None:
    account = await api.account()
    message_id, first = await failed(api, account)
    assert (await reprocess(api, message_id)).status_code == 202
    second = first.model_copy(update={"round": 2})
    await api.say(dispatched(first, "K-old"))
    await api.say(receipt(first, "K-old", Status.READ))

    async def recorded() -> bool:
        steps = (await api.get(account.key, f"messages/{message_id}/timeline")).json()["steps"]
        return [step["round"] for step in steps if step["what"] in ("dispatched", "receipt")] == [1, 1]

    await soon(recorded, "the old round's news in the timeline")
    details = (await api.get(account.key, f"messages/{message_id}")).json()
    assert (details["status"], details["externalMessageId"]) == ("QUEUED", None)
    assert (details["dispatchedAt"], details["readAt"]) == (None, None)
    await api.say(dispatched(second, "K-new"))
    await api.say(receipt(second, "K-new", Status.DELIVERED))
    now = await becomes(api, account, message_id, "DELIVERED")
    assert now["externalMessageId"] == "K-new"
    steps = (await api.get(account.key, f"messages/{message_id}/timeline")).json()["steps"]
    [opened] = [step for step in steps if step["what"] == "reprocessed"]
    assert (opened["code"], opened["round"]) == ("REPROCESSED", 2)
    assert opened["sentence"].startswith("An operator had it sent again")


@pytest.mark.parametrize(
    ("code", "possible"),
    [
        (ErrorCode.UNCONFIRMED, True),
        (ErrorCode.GATEWAY_REPORTED_ERROR, True),
        (ErrorCode.DELIVERED_NOT_CONFIRMED, True),
        (ErrorCode.MESSAGE_EXPIRED, False),
    ],
)
async def test_what_may_have_been_sent_is_flagged(api: RunningApi, code: ErrorCode, possible: bool) -> None:
    account = await api.account()
    message_id, _ = await failed(api, account, code)
    assert (await reprocess(api, message_id)).json()["duplicatePossible"] is possible


@pytest.mark.parametrize("status", ["QUEUED", "DISPATCHED", "SENT", "DELIVERED", "READ", "CANCELED"])
async def test_only_what_failed_may_be_sent_again(api: RunningApi, status: str) -> None:
    account = await api.account()
    message_id, _ = await accepted(api, account)
    await api.rows("UPDATE api.messages SET status = $2 WHERE id = $1", UUID(message_id), status)
    answer = await reprocess(api, message_id)
    assert code_of(answer) == (409, "MESSAGE_NOT_REPROCESSABLE")
    assert answer.json()["messageStatus"] == status
    assert (await row_of(api, message_id))["round"] == 1


async def test_who_opted_out_is_left_alone(api: RunningApi) -> None:
    account = await api.account()
    message_id, _ = await accepted(api, account)
    await fail(api, message_id, "RECIPIENT_OPTED_OUT")
    assert code_of(await reprocess(api, message_id)) == (409, "MESSAGE_NOT_REPROCESSABLE")


async def test_what_is_forgotten_cannot_be_sent_again(api: RunningApi) -> None:
    account = await api.account()
    message_id, _ = await failed(api, account)
    await api.rows("UPDATE api.messages SET sealed = NULL WHERE id = $1", UUID(message_id))
    assert code_of(await reprocess(api, message_id)) == (409, "CONTENT_FORGOTTEN")


async def test_a_removed_number_sends_nothing_again(api: RunningApi) -> None:
    number = await api.number(state=ConnectionState.OPEN)
    account = await api.account(number_id=number["id"])
    message_id, _ = await failed(api, account)
    await api.rows("UPDATE api.numbers SET deleted_at = now() WHERE id = $1", UUID(number["id"]))
    assert code_of(await reprocess(api, message_id)) == (409, "MESSAGE_NOT_REPROCESSABLE")


async def test_consent_that_was_withdrawn_since_counts(api: RunningApi) -> None:
    account = await api.account(environment="LIVE", approved=True)
    await api.opt_in(account.key)
    message_id, _ = await failed(api, account)
    answer = await api.client.request(
        "DELETE", "/v1/opt-ins", json={"destinationNumber": DESTINATION}, headers={"x-api-key": account.key}
    )
    assert answer.is_success, answer.text
    assert code_of(await reprocess(api, message_id)) == (403, "OPT_IN_REQUIRED")


async def test_an_unknown_message_is_not_found_and_an_id_must_be_one(api: RunningApi) -> None:
    assert code_of(await reprocess(api, str(uuid4()))) == (404, "MESSAGE_NOT_FOUND")
    assert code_of(await reprocess(api, "nonsense")) == (400, "VALIDATION_FAILED")


async def test_twenty_at_once_open_one_round(api: RunningApi) -> None:
    account = await api.account()
    message_id, _ = await failed(api, account)
    answers = await asyncio.gather(*(reprocess(api, message_id) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 19
    assert (await row_of(api, message_id))["round"] == 2


async def used(api: RunningApi, account: Account) -> int:
    rows = await api.rows("SELECT sum(used) AS used FROM api.usage WHERE tenant_id = $1", UUID(account.tenant_id))
    return int(rows[0]["used"] or 0)


async def test_a_round_counts_like_a_new_message_and_is_given_back_like_one(api: RunningApi) -> None:
    """Counted, given back, counted again over a limit that is reached, given back again."""
    account = await api.account()
    await api.plan(account, testDaily=1, testAnyone=True)
    message_id = ""

    async def counted() -> bool:
        nonlocal message_id
        answer = await api.send(account.key, destinationNumber="+5547988887777")
        message_id = answer.json().get("id", message_id)
        return bool(await used(api, account) == 1)

    await soon(counted, "a message that counts")
    row = await row_of(api, message_id)
    ref = MessageRef.model_validate(
        {name: row[name] for name in MessageRef.model_fields if name in row} | {"message_id": row["id"]}
    )
    refused = MessageDispatchFailed(
        ref=ref, attempt=1, error_code=ErrorCode.GATEWAY_REFUSED, failed_at=datetime.now(UTC)
    )
    await api.say(refused)
    await becomes(api, account, message_id, "FAILED")
    assert await used(api, account) == 0
    other = await api.send(account.key, destinationNumber="+5547988887777")
    assert other.status_code == 202
    assert (await reprocess(api, message_id)).status_code == 202
    assert await used(api, account) == 2, "an operator's decision is counted, not refused"
    await api.say(refused.model_copy(update={"ref": ref.model_copy(update={"round": 2})}))
    await becomes(api, account, message_id, "FAILED")
    assert await used(api, account) == 1
