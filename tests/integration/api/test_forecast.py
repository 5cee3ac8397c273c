"""`estimatedDispatchAt`: told as soon as the dispatcher has said how the lane is, and never waited for."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from chassis.testing.waiting import eventually
from contracts.values import ConnectionState

from .answering import Dispatching, answering
from .running import DESTINATION, Account, RunningApi
from .test_idempotency import send as send_once
from .test_timeline import open_lane

ESTIMATE = "estimatedDispatchAt"


@pytest.fixture
async def dispatching(api: RunningApi, api_database: TestDatabase, vhost: VirtualHost) -> AsyncIterator[Dispatching]:
    async with answering(api_database.url("dispatcher"), vhost.url) as dispatcher:
        yield dispatcher


@pytest.fixture
async def account(api: RunningApi, dispatching: Dispatching) -> Account:
    """A customer with a number of their own, whose lane is open and idle."""
    number = await api.number(state=ConnectionState.OPEN)
    await open_lane(dispatching, number["instance"])
    return await api.account(number_id=number["id"])


async def told(api: RunningApi, account: Account, **body: Any) -> datetime:
    """What a send is told to expect, once something is known; earlier sends may not be told."""
    answers: list[Any] = []

    async def is_told() -> bool:
        answers.append((await api.send(account.key, **body)).json())
        return ESTIMATE in answers[-1]

    await eventually(is_told, "an estimate", timeout_seconds=60)
    assert answers[-1][ESTIMATE].endswith("Z")
    return datetime.fromisoformat(answers[-1][ESTIMATE])


async def test_a_later_send_is_told_when_it_leaves_and_each_one_after_it_later(
    api: RunningApi, account: Account
) -> None:
    first = await api.send(account.key)
    assert ESTIMATE not in first.json(), "nobody had asked about this lane before"
    one, two = await told(api, account), await told(api, account)
    assert datetime.fromisoformat(first.json()["createdAt"]) < one < two


async def test_a_message_for_later_is_expected_then(api: RunningApi, account: Account) -> None:
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
    assert await told(api, account, deliverAt=at.isoformat()) == at


async def test_every_message_of_a_batch_is_told(api: RunningApi, account: Account) -> None:
    await told(api, account)
    messages = [{"destinationNumber": DESTINATION, "text": f"oi {n}"} for n in range(10)] + [{}]
    answer = await api.client.post(
        "/v1/messages/batch", json={"messages": messages}, headers={"x-api-key": account.key}
    )
    estimates = [result["message"][ESTIMATE] for result in answer.json()["results"][:-1]]
    assert estimates == sorted(set(estimates)), "each one gap after the other"


async def test_case_47_a_repeat_is_told_what_the_first_request_was_told(api: RunningApi, account: Account) -> None:
    early = await send_once(api, account.key, "early")
    await told(api, account)
    first = await send_once(api, account.key, "k1")
    assert ESTIMATE in first.json()
    await told(api, account)
    again = await send_once(api, account.key, "k1")
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    assert (await send_once(api, account.key, "early")).content == early.content


async def test_a_closed_lane_promises_nothing(api: RunningApi, dispatching: Dispatching) -> None:
    number = await api.number(state=ConnectionState.OPEN)
    account = await api.account(number_id=number["id"])
    await open_lane(dispatching, number["instance"])
    await dispatching.write(
        "UPDATE dispatcher.lanes SET state = 'CLOSE' WHERE instance = :instance", instance=number["instance"]
    )
    for _ in range(20):
        assert ESTIMATE not in (await api.send(account.key)).json()


async def test_without_the_dispatcher_and_without_a_broker_sends_are_accepted_and_told_nothing(api: RunningApi) -> None:
    number = await api.number(state=ConnectionState.OPEN)
    account = await api.account(number_id=number["id"])
    answers = [await api.send(account.key) for _ in range(5)]
    api.broker_wire.cut()
    answers += [await api.send(account.key) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {202}
    assert all(ESTIMATE not in answer.json() for answer in answers)
