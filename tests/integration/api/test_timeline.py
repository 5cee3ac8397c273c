"""GET /v1/messages/{id}/timeline: what happened in sentences, and what the message waits for now."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from contracts.facts import MessageDeferred, MessageDispatched, NumberConfigured
from contracts.facts.messages import DeferReason, Proof
from dispatcher.usecases.watch_lanes import ConfigureLane

from .answering import Dispatching, answering
from .running import OPERATOR_KEY, RunningApi, code_of
from .stored import store
from .test_read import accepted, becomes


@pytest.fixture
async def dispatching(api: RunningApi, api_database: TestDatabase, vhost: VirtualHost) -> AsyncIterator[Dispatching]:
    async with answering(api_database.url("dispatcher"), vhost.url) as dispatcher:
        yield dispatcher


async def open_lane(dispatching: Dispatching, instance: str) -> None:
    """A number as the dispatcher knows it once it is connected."""
    fact = NumberConfigured(
        number_id=uuid4(), instance=instance, sealed_access="x", version=1, configured_at=datetime.now(UTC)
    )
    await ConfigureLane(database=dispatching.database, wake=nobody)(fact)
    await dispatching.write("UPDATE dispatcher.lanes SET state = 'OPEN' WHERE instance = :instance", instance=instance)


def nobody() -> None:
    """Nothing runs that would have to be woken."""


async def test_a_message_the_dispatcher_has_not_seen_waits_for_it(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, _ = await accepted(api, account)
    timeline = (await api.get(account.key, f"messages/{message_id}/timeline")).json()
    assert timeline["waitingFor"]["code"] == "DISPATCHER"
    assert timeline["waitingFor"]["sentence"]
    assert "notice" not in timeline
    assert timeline["steps"][0]["sentence"] == "Accepted, due at once."


async def test_it_says_what_the_dispatcher_says(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    await open_lane(dispatching, ref.instance)
    await dispatching.claim(ref.message_id)
    await api.say(MessageDeferred(ref=ref, attempt=0, reason=DeferReason.PACED))
    timeline = (await api.get(account.key, f"messages/{message_id}/timeline")).json()
    assert timeline["waitingFor"]["code"] == "GATEWAY_ANSWER"
    assert timeline["waitingFor"]["number"]["state"] == "OPEN"


async def test_a_waiting_message_knows_its_place_and_its_time(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    refs = [(await accepted(api, account))[1] for _ in range(3)]
    await open_lane(dispatching, refs[0].instance)
    await dispatching.write("DELETE FROM dispatcher.jobs")
    for place, ref in enumerate(refs):
        await dispatching.claim(ref.message_id)
        await dispatching.write(
            """
            UPDATE dispatcher.jobs SET state = 'READY', tag = :place, attempt = 0, instance = :instance,
                   due_at = now() + :place * interval '1 millisecond'
             WHERE message_id = :id
            """,
            instance=ref.instance,
            place=place,
            id=ref.message_id,
        )
    timeline = (await api.get(account.key, f"messages/{refs[2].message_id}/timeline")).json()
    waiting = timeline["waitingFor"]
    assert (waiting["code"], waiting["ahead"]) == ("TURN", 2)
    expected = datetime.fromisoformat(waiting["expectedDispatchAt"])
    assert timedelta(seconds=10) < expected - datetime.now(UTC) < timedelta(seconds=20), "two gaps of 6 to 10 s"


async def test_without_the_dispatcher_its_own_steps_still_answer(api: RunningApi) -> None:
    account = await api.account()
    message_id, _ = await accepted(api, account)
    answer = await api.get(account.key, f"messages/{message_id}/timeline")
    assert answer.status_code == 200
    timeline = answer.json()
    assert (timeline["waitingFor"], timeline["notice"]) == (None, "OWNER_UNAVAILABLE")
    assert [step["what"] for step in timeline["steps"]] == ["accepted"]


async def test_once_it_left_nobody_is_asked(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    now = datetime.now(UTC)
    await api.say(MessageDispatched(ref=ref, attempt=1, key_id="3EB0T", dispatched_at=now, proof=Proof.ECHO))
    await becomes(api, account, message_id, "DISPATCHED")
    timeline = (await api.get(account.key, f"messages/{message_id}/timeline")).json()
    assert timeline["waitingFor"]["code"] == "SENT_RECEIPT"
    assert "notice" not in timeline
    assert timeline["steps"][1]["sentence"].startswith("The number was seen sending")
    for status in ("READ", "DELIVERED", "FAILED", "CANCELED"):
        [final] = await store(api, account, status=status)
        assert (await api.get(account.key, f"messages/{final}/timeline")).json()["waitingFor"] is None


async def test_an_operator_sees_the_lane_of_a_number(api: RunningApi, dispatching: Dispatching) -> None:
    number = await api.number()
    path, headers = f"/v1/admin/numbers/{number['id']}/lane", {"x-operator-key": OPERATOR_KEY}
    assert (await api.client.get(path, headers=headers)).json() == {"known": False}
    await open_lane(dispatching, number["instance"])
    lane = (await api.client.get(path, headers=headers)).json()
    assert (lane["known"], lane["state"], lane["paused"], lane["inFlight"]) == (True, "OPEN", False, 0)
    assert [entry["category"] for entry in lane["categories"]] == ["OTP", "UTILITY", "MARKETING"]
    assert [entry["allowedPerHour"] for entry in lane["categories"]] == [1_800, 450, 94]
    assert (lane["sentLastHour"], lane["tenants"]) == (0, [])
    assert code_of(await api.client.get(path)) == (401, "OPERATOR_KEY_INVALID")
    unknown = "/v1/admin/numbers/018f0000-0000-7000-8000-000000000000/lane"
    assert code_of(await api.client.get(unknown, headers=headers)) == (404, "NUMBER_NOT_FOUND")


async def test_the_lane_of_a_silent_dispatcher_is_503(api: RunningApi) -> None:
    number = await api.number()
    answer = await api.client.get(f"/v1/admin/numbers/{number['id']}/lane", headers={"x-operator-key": OPERATOR_KEY})
    assert code_of(answer) == (503, "OWNER_UNAVAILABLE")
