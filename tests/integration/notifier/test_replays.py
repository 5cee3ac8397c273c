"""Deliveries made once more: one, or those of a period; what is listed, what is refused, what goes out."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from standardwebhooks.webhooks import Webhook

from chassis.clock import utc_now
from contracts.delivery_questions import (
    Deliveries,
    DeliveriesReplayed,
    DeliveryState,
    ListDeliveries,
    LocateEndpoint,
    ReplayDeliveries,
    ReplayDelivery,
)
from contracts.ids import uuid7
from contracts.questions import ChangeEndpoint, EndpointFound, Rejected
from contracts.status import Status
from notifier.usecases.forget_old import ForgetOld

from .conftest import Ask

LONG_AGO, FAR_OFF = datetime(2020, 1, 1, tzinfo=UTC), datetime(2039, 1, 1, tzinfo=UTC)


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build(pauses=(60,))


def about(rig: Any, kind: Any, endpoint_id: UUID, **more: Any) -> Any:
    return kind.model_validate({"tenant_id": rig.tenant_id, "endpoint_id": endpoint_id, **more})


def everything(rig: Any, endpoint_id: UUID, **more: Any) -> Any:
    return about(rig, ReplayDeliveries, endpoint_id, **{"since": LONG_AGO, "until": FAR_OFF, **more})


async def the_only(rig: Any) -> UUID:
    [row] = await rig.rows("SELECT delivery_id FROM notifier.deliveries")
    found: UUID = row.delivery_id
    return found


async def test_one_goes_out_again_with_the_same_id_and_body_and_a_fresh_timestamp(
    rig: Any, ask: Ask, customer: Any
) -> None:
    endpoint_id, secret = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    answer = await ask(about(rig, ReplayDelivery, endpoint_id, delivery_id=await the_only(rig)))
    assert answer == DeliveriesReplayed(endpoint_id=endpoint_id, delivery_ids=(await the_only(rig),))
    earlier = int(customer.received[0].headers["webhook-timestamp"])
    assert await rig.work_off() == 1
    first, again = customer.received
    assert first.body == again.body
    assert {first.headers["webhook-id"], again.headers["x-pilot-status-delivery"]} == {str(await the_only(rig))}
    assert (first.headers["x-pilot-status-attempt"], again.headers["x-pilot-status-attempt"]) == ("1", "2")
    assert int(again.headers["webhook-timestamp"]) >= earlier
    Webhook(secret).verify(again.body, again.headers)
    assert await rig.states() == ["DELIVERED"]


async def test_what_was_given_up_gets_the_whole_schedule_again(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500)]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    for hours in (0, 1):
        await rig.work_off(now=datetime.now(UTC) + timedelta(hours=hours))
    assert await rig.states() == ["EXHAUSTED"]
    await ask(about(rig, ReplayDelivery, endpoint_id, delivery_id=await the_only(rig)))
    assert await rig.work_off() == 1
    assert await rig.states() == ["PENDING"], "one pause is left again"
    assert await rig.work_off(now=datetime.now(UTC) + timedelta(hours=1)) == 1
    assert await rig.states() == ["EXHAUSTED"]
    attempts = await rig.rows("SELECT attempt FROM notifier.delivery_attempts ORDER BY attempt")
    assert [row.attempt for row in attempts] == [1, 2, 3, 4]


async def test_a_range_comes_in_bites_in_order_and_is_filtered(rig: Any, ask: Ask, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    for status in (Status.SENT, Status.READ):
        for _ in range(12):
            await rig.hear(rig.fact(status))
    while await rig.work_off():
        pass
    customer.received.clear()
    read = everything(rig, endpoint_id, events=("message.read",), states=(DeliveryState.DELIVERED,))
    first = await ask(read)
    assert isinstance(first, DeliveriesReplayed)
    assert len(first.delivery_ids) == 10
    second = await ask(read.model_copy(update={"after": first.next_after}))
    assert (len(second.delivery_ids), second.next_after) == (2, None)
    claimed = [one.delivery_id for _ in range(2) for one in await rig.deliver.claim(10)]
    assert claimed[:10] == sorted(claimed[:10]) == list(first.delivery_ids)
    nothing = await ask(everything(rig, endpoint_id, until=LONG_AGO + timedelta(days=1)))
    assert (nothing.delivery_ids, nothing.next_after) == ((), None)


async def test_a_range_of_failures_leaves_the_rest(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply(status=500), customer.reply()]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    failed = await the_only(rig)
    for hours in (0, 1):
        await rig.work_off(now=datetime.now(UTC) + timedelta(hours=hours))
    await rig.hear(rig.fact(Status.READ))
    await rig.work_off()
    answer = await ask(everything(rig, endpoint_id, states=(DeliveryState.EXHAUSTED,)))
    assert answer.delivery_ids == (failed,)
    assert sorted(await rig.states()) == ["DELIVERED", "PENDING"]


async def test_a_replay_brings_forward_what_waits_and_what_waits_behind_it(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply()]
    endpoint_id, _ = await rig.endpoint(customer.url())
    message_id = uuid7()
    await rig.hear(rig.fact(Status.SENT, version=3, message_id=message_id))
    await rig.work_off()
    waiting = await the_only(rig)
    await rig.hear(rig.fact(Status.DELIVERED, previous=Status.SENT, version=4, message_id=message_id))
    assert [await rig.work_off() for _ in range(2)] == [0, 0], "it moved behind the retry"
    await ask(about(rig, ReplayDelivery, endpoint_id, delivery_id=waiting))
    assert [await rig.work_off() for _ in range(2)] == [1, 1]
    assert await rig.states() == ["DELIVERED", "DELIVERED"]


async def test_what_cannot_be_replayed(rig: Any, ask: Ask, customer: Any) -> None:
    """Each with its own reason, and nothing is sent."""
    endpoint_id, _ = await rig.endpoint(customer.url())
    other_id, _ = await rig.endpoint(customer.url("/other"))
    await rig.hear(rig.fact())
    [mine] = [one for one in await rig.deliver.claim(10) if one.endpoint_id == endpoint_id]

    async def code(endpoint: UUID = endpoint_id, delivery: UUID = mine.delivery_id, **more: Any) -> str:
        answer = await ask(about(rig, ReplayDelivery, endpoint, delivery_id=delivery, **more))
        assert isinstance(answer, Rejected), answer
        return answer.code

    assert await code() == "WEBHOOK_DELIVERY_UNDER_WAY"
    await rig.deliver.carry_out(mine)
    assert await code(delivery=uuid4()) == "WEBHOOK_DELIVERY_NOT_FOUND"
    assert await code(endpoint=other_id) == "WEBHOOK_DELIVERY_NOT_FOUND"
    assert await code(tenant_id=uuid4()) == "WEBHOOK_NOT_FOUND"
    await rig.rows("UPDATE notifier.deliveries SET attempts = 1000 RETURNING 1")
    assert await code() == "WEBHOOK_REPLAYED_TOO_OFTEN"
    await rig.rows("UPDATE notifier.deliveries SET attempts = 1, sealed_body = '-' RETURNING 1")
    assert await code() == "WEBHOOK_BODY_ERASED"
    skipped = await ask(everything(rig, endpoint_id))
    assert (skipped.delivery_ids, skipped.skipped) == ((), (mine.delivery_id,))
    await ask(about(rig, ChangeEndpoint, endpoint_id, active=False))
    assert await code() == "WEBHOOK_INACTIVE"
    assert (await ask(everything(rig, endpoint_id))).code == "WEBHOOK_INACTIVE"
    assert len(customer.received) == 1


async def test_what_was_sent_about_a_purged_number_is_erased(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=404, body=b"who is +5511912345678?"), customer.reply()]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    for hours in (0, 1):
        await rig.work_off(now=datetime.now(UTC) + timedelta(hours=hours))
    await rig.rows(
        "INSERT INTO notifier.numbers (number_id, instance, purged_at) VALUES (:id, 'acme', now()) RETURNING 1",
        id=rig.number_id,
    )
    forget = ForgetOld(database=rig.database, clock=utc_now, retention=timedelta(days=30), bite=1)
    while await forget():
        pass
    [row] = await rig.rows("SELECT sealed_body FROM notifier.deliveries")
    assert row.sealed_body == "-"
    answers = await rig.rows("SELECT 1 FROM notifier.delivery_attempts WHERE sealed_response IS NOT NULL")
    assert answers == []
    answer = await ask(about(rig, ReplayDelivery, endpoint_id, delivery_id=await the_only(rig)))
    assert answer.code == "WEBHOOK_BODY_ERASED"
    [listed] = (await ask(about(rig, ListDeliveries, endpoint_id))).deliveries
    assert listed.replayable is False


async def test_deliveries_are_listed_page_by_page_with_what_became_of_them(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=301), customer.reply()]
    endpoint_id, _ = await rig.endpoint(customer.url())
    facts = [rig.fact(Status.SENT), rig.fact(Status.READ), rig.fact(Status.READ)]
    for fact in facts:
        await rig.hear(fact)
        await rig.work_off()
    page = await ask(about(rig, ListDeliveries, endpoint_id, limit=2))
    assert isinstance(page, Deliveries)
    assert [one.message_id for one in page.deliveries] == [facts[2].ref.message_id, facts[1].ref.message_id]
    rest = await ask(about(rig, ListDeliveries, endpoint_id, limit=2, before=page.deliveries[-1].delivery_id))
    [failed] = rest.deliveries
    assert (failed.state, failed.attempts, failed.last_status) == (DeliveryState.PENDING, 1, 301)
    assert "use the final URL" in failed.hint
    assert abs(failed.owed_at - datetime.now(UTC)) < timedelta(minutes=5)
    for condition, count in (
        ({"event": "message.read"}, 2),
        ({"states": ("PENDING",)}, 1),
        ({"message_id": facts[0].ref.message_id}, 1),
        ({"message_id": uuid4()}, 0),
    ):
        assert len((await ask(about(rig, ListDeliveries, endpoint_id, **condition))).deliveries) == count


async def test_an_operator_finds_any_tenants_endpoint(rig: Any, ask: Ask, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    found = await ask(LocateEndpoint(endpoint_id=endpoint_id))
    assert isinstance(found, EndpointFound)
    assert found.endpoint.tenant_id == rig.tenant_id
    assert (await ask(LocateEndpoint(endpoint_id=uuid4()))).code == "WEBHOOK_NOT_FOUND"


async def test_an_endpoint_that_is_on_again_gets_what_waited_in_order(rig: Any, ask: Ask, customer: Any) -> None:
    """Off by hand, says so; nothing is lost meanwhile, and no more goes out at once than ever."""
    endpoint_id, _ = await rig.endpoint(customer.url())
    off = await ask(about(rig, ChangeEndpoint, endpoint_id, active=False))
    assert (off.endpoint.disabled_reason, off.endpoint.disabled_hint) == ("CUSTOMER", "It was switched off by hand.")
    facts = [rig.fact() for _ in range(15)]
    for fact in facts:
        await rig.hear(fact)
    assert await rig.work_off() == 0
    on = await ask(about(rig, ChangeEndpoint, endpoint_id, active=True))
    assert (on.endpoint.disabled_reason, on.endpoint.disabled_at) == (None, None)
    claimed = await rig.deliver.claim(100)
    assert [one.ref.message_id for one in claimed] == [fact.ref.message_id for fact in facts[:10]]
