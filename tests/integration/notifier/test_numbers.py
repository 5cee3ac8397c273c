"""The life of a number reaches the customer: once per turn, in order, readable by the official SDK."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from pilot_status import parse_customer_webhook

from contracts.facts import NumberCreated, NumberRemoved, NumberRestored
from contracts.status import Status
from notifier.usecases.tell_of_numbers import TellOfNumbers

from .number_story import CLOSE, CONNECTING, OPEN, PATIENCE, Story


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build()


@pytest.fixture
async def story(rig: Any, customer: Any) -> Story:
    told = Story(rig)
    await rig.endpoint(customer.url("/number"))
    return told


async def test_every_event_is_signed_and_read_by_the_official_sdk(story: Story, customer: Any) -> None:
    await story.connected()
    await story.seen(CLOSE)
    story.pass_(60)
    await story.tell.confirm()
    await story.turn(NumberRemoved, 2)
    await story.turn(NumberRestored, 3)
    while await story.rig.work_off():
        pass
    bodies = [json.loads(request.body) for request in customer.received]
    assert [body["event"] for body in bodies] == [
        "number.created",
        "number.connected",
        "number.disconnected",
        "number.removed",
        "number.restored",
    ]
    for request, body in zip(customer.received, bodies, strict=True):
        parsed = parse_customer_webhook(json.loads(request.body), unknown_events="raise")
        assert parsed["event"] == body["event"]
        assert body["data"]["numberId"] == str(story.number_id)
        assert body["data"]["phone"] == "+5547991234567"
        assert body["data"]["displayName"] == "Balcão"
        assert request.headers["x-pilot-status-event"] == body["event"]
    assert [body["data"]["version"] for body in bodies] == [1, 2, 3, 4, 5]
    assert [body["data"]["createdAt"] for body in bodies][:3] == [
        "2026-03-02T12:00:01.000Z",
        "2026-03-02T12:00:02.000Z",
        "2026-03-02T12:00:03.000Z",
    ]
    assert await story.rig.said() == [], "webhook.delivered is about messages"


async def test_a_repeated_turn_is_told_once(story: Story, build: Any) -> None:
    other = await build()
    elsewhere = TellOfNumbers(database=other.database, ring=other.ring, confirm_after=PATIENCE, clock=lambda: story.now)
    facts = [story.fact(NumberCreated, 1)] * 5 + [story.fact(NumberRemoved, 2)] * 5
    for fact in facts:
        await asyncio.gather(story.tell.turn(fact), elsewhere.turn(fact))
    assert await story.events() == ["number.created", "number.removed"]


async def test_a_transition_that_two_services_report_is_told_once(story: Story) -> None:
    await story.connected()
    await story.seen(OPEN)
    first = await story.seen(CLOSE)
    await story.seen(CLOSE)
    await story.tell.observe(first)
    story.pass_(60)
    await story.tell.confirm()
    await story.tell.confirm()
    await story.seen(CLOSE)
    story.pass_(60)
    await story.tell.confirm()
    await story.seen(OPEN)
    assert await story.events() == [
        "number.created",
        "number.connected",
        "number.disconnected",
        "number.connected",
    ]


async def test_flapping_is_no_disconnect(story: Story) -> None:
    await story.connected()
    for state in (CONNECTING, OPEN, CLOSE, CONNECTING, OPEN, CONNECTING):
        await story.seen(state)
        await story.tell.confirm()
    story.pass_(600)
    await story.tell.confirm()
    assert await story.events() == ["number.created", "number.connected"]


async def test_a_loss_counts_from_when_it_was_first_seen(story: Story) -> None:
    await story.connected()
    await story.seen(CLOSE)
    story.pass_(20)
    await story.seen(CONNECTING)
    await story.seen(CLOSE)
    await story.tell.confirm()
    assert (await story.events())[2:] == []
    story.pass_(8)
    await story.tell.confirm()
    assert (await story.events())[2:] == ["number.disconnected"]


async def test_a_number_that_never_connected_is_not_disconnected(story: Story) -> None:
    await story.turn(NumberCreated, 1)
    await story.seen(CLOSE)
    story.pass_(600)
    await story.tell.confirm()
    assert await story.events() == ["number.created"]


async def test_a_removed_number_loses_its_connection_without_a_word(story: Story) -> None:
    await story.connected()
    before = story.now
    await story.seen(CLOSE)
    await story.turn(NumberRemoved, 2)
    await story.seen(OPEN)
    await story.seen(CLOSE)
    story.pass_(600)
    await story.tell.confirm()
    await story.turn(NumberRestored, 3)
    await story.seen(OPEN, at=before)
    assert (await story.events())[2:] == ["number.removed", "number.restored"], "what is old is no news"
    await story.seen(OPEN)
    assert (await story.events())[-1] == "number.connected"


async def test_of_two_turns_in_the_wrong_order_the_later_one_is_told(story: Story) -> None:
    removed, restored = story.fact(NumberRemoved, 2), story.fact(NumberRestored, 3)
    await story.tell.turn(restored)
    await story.tell.turn(removed)
    assert await story.events() == ["number.restored"]
    assert not (await story.rig.rows("SELECT removed FROM notifier.numbers"))[0].removed


async def test_purging_tells_nobody_and_forgets_who_it_was(story: Story) -> None:
    await story.turn(NumberRemoved, 2)
    await story.turn(NumberRemoved, 3, purged=True, sealed_profile=None)
    await story.learn(version=1)
    assert await story.events() == ["number.removed"]
    [row] = await story.rig.rows("SELECT sealed_profile, purged_at FROM notifier.numbers")
    assert row.sealed_profile is None
    assert row.purged_at is not None


async def test_a_number_known_by_its_configuration_alone_is_told_of_too(story: Story, customer: Any) -> None:
    await story.learn(version=4)
    await story.seen(OPEN)
    await story.rig.work_off()
    assert json.loads(customer.received[0].body)["data"]["phone"] == "+5547991234567"
    assert await story.events() == ["number.connected"]


async def test_a_configuration_keeps_nothing_from_being_told(story: Story) -> None:
    """Both facts leave in one commit and may be heard in either order."""
    removed = story.fact(NumberRemoved, 2)
    await story.learn(version=2)
    await story.tell.turn(removed)
    assert await story.events() == ["number.removed"]


async def test_only_those_who_selected_it(story: Story, customer: Any) -> None:
    await story.rig.endpoint(customer.url("/removed"), "number.removed")
    await story.rig.endpoint(customer.url("/sent"), "message.sent")
    await story.connected()
    await story.turn(NumberRemoved, 2)
    while await story.rig.work_off():
        pass
    told = [(request.path, json.loads(request.body)["event"]) for request in customer.received]
    assert sorted(told) == [
        ("/number", "number.connected"),
        ("/number", "number.created"),
        ("/number", "number.removed"),
        ("/removed", "number.removed"),
    ]


async def test_other_numbers_hear_of_a_creation_alone_and_other_tenants_of_nothing(story: Story, customer: Any) -> None:
    await story.rig.endpoint(customer.url("/sister"), number_id=uuid4())
    await story.rig.endpoint(customer.url("/stranger"), tenant_id=uuid4())
    await story.connected()
    await story.turn(NumberRemoved, 2)
    while await story.rig.work_off():
        pass
    told = {(request.path, json.loads(request.body)["event"]) for request in customer.received}
    assert {event for path, event in told if path == "/sister"} == {"number.created"}
    assert not [path for path, _ in told if path == "/stranger"]
    assert {event for path, event in told if path == "/number"} == {
        "number.created",
        "number.connected",
        "number.removed",
    }


async def test_the_life_of_a_number_of_the_platform_is_nobodys_news(story: Story) -> None:
    await story.turn(NumberCreated, 1, tenant_id=None)
    await story.seen(OPEN)
    await story.turn(NumberRemoved, 2, tenant_id=None)
    assert await story.rig.states() == []


async def test_an_unknown_instance_is_not_ours(story: Story) -> None:
    await story.seen(OPEN)
    assert await story.rig.rows("SELECT 1 FROM notifier.numbers") == []


async def test_an_instance_registered_anew_is_the_younger_number(rig: Any, customer: Any) -> None:
    old = Story(rig)
    new = Story(rig, number_id=UUID(int=old.number_id.int + 1))
    await rig.endpoint(customer.url("/new"))
    await old.turn(NumberCreated, 1)
    await old.turn(NumberRemoved, 2)
    await new.turn(NumberCreated, 1)
    await new.seen(OPEN)
    assert await new.events() == ["number.created", "number.connected"]


async def test_without_a_profile_the_phone_is_empty(story: Story, customer: Any) -> None:
    await story.turn(NumberRemoved, 2, sealed_profile=None)
    await story.rig.work_off()
    body = json.loads(customer.received[0].body)
    assert (body["data"]["phone"], body["data"]["displayName"]) == ("", "acme")
    assert parse_customer_webhook(body, unknown_events="raise")["event"] == "number.removed"


async def test_a_failing_endpoint_gets_it_again_under_the_same_id(story: Story, customer: Any) -> None:
    customer.replies["/number"] = [customer.reply(status=500), customer.reply()]
    await story.turn(NumberRemoved, 2)
    await story.rig.work_off()
    assert await story.rig.work_off(now=datetime.now(UTC) + timedelta(minutes=1)) == 1
    first, second = customer.received
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert await story.rig.states() == ["DELIVERED"]


async def test_nothing_rests_in_clear_and_messages_are_still_told(story: Story) -> None:
    await story.connected()
    await story.rig.hear(story.rig.fact(Status.FAILED))
    tables = ("numbers", "deliveries", "outbox")
    rows = [str(row) for name in tables for row in await story.rig.rows(f"SELECT t::text FROM notifier.{name} AS t")]
    assert len(rows) == 4
    assert "47991234567" not in "".join(rows)
    assert "Balc" not in "".join(rows)
