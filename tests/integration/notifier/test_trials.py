"""A customer tries an endpoint: one delivery that says so, on the way of all others, and no fact about a message."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from contracts.questions import ChangeEndpoint, Rejected, TrialPlanned, TryEndpoint
from contracts.values import Environment
from notifier.domain.trial import TRIAL_EVERY_SECONDS
from notifier.usecases.try_endpoint import TryWebhook

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build()


def asked(rig: Any, endpoint_id: UUID, /, **changes: Any) -> TryEndpoint:
    fields = {"tenant_id": rig.tenant_id, "endpoint_id": endpoint_id, "project_id": uuid4()}
    return TryEndpoint(**{**fields, "environment": Environment.TEST, **changes})


def trying(rig: Any, *, now: datetime = NOW, planned: Callable[[], None] = lambda: None) -> TryWebhook:
    return TryWebhook(database=rig.database, ring=rig.ring, planned=planned, clock=lambda: now)


async def owed(rig: Any, endpoint_id: UUID, *, now: datetime = NOW) -> UUID:
    """The id of the delivery that trying the endpoint makes or finds."""
    answer = await trying(rig, now=now)(asked(rig, endpoint_id))
    assert isinstance(answer, TrialPlanned), answer
    return answer.delivery_id


async def test_it_is_sent_signed_and_logged_whatever_was_selected(rig: Any, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url(), "message.read")
    woken: list[bool] = []
    answer = await trying(rig, planned=lambda: woken.append(True))(asked(rig, endpoint_id))
    assert isinstance(answer, TrialPlanned)
    assert woken == [True]
    assert await rig.work_off() == 1
    [request] = customer.received
    body = json.loads(request.body)
    assert (body["event"], body["data"]["test"], body["data"]["id"]) == ("webhook.test", True, str(answer.delivery_id))
    assert request.headers["webhook-id"] == str(answer.delivery_id)
    assert request.headers["x-pilot-status-event"] == "webhook.test"
    assert "x-pilot-status-signature" in request.headers
    assert await rig.states() == ["DELIVERED"]
    assert await rig.said() == []


async def test_a_failed_one_is_tried_again_like_any_other(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply(status=200)]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await owed(rig, endpoint_id)
    await rig.work_off()
    assert await rig.states() == ["PENDING"]
    await rig.work_off(now=datetime.now(UTC) + timedelta(minutes=1))
    assert await rig.states() == ["DELIVERED"]
    assert len({request.headers["webhook-id"] for request in customer.received}) == 1


async def test_impatience_makes_no_second_one(rig: Any, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    first, at_once = await owed(rig, endpoint_id), await owed(rig, endpoint_id)
    later = await owed(rig, endpoint_id, now=NOW + timedelta(seconds=TRIAL_EVERY_SECONDS))
    assert first == at_once
    assert later != first
    assert await rig.work_off() == 2


@pytest.mark.parametrize("foreign", ["tenant", "number", "unknown"])
async def test_what_belongs_to_somebody_else_is_not_found(rig: Any, customer: Any, foreign: str) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    reach = {"tenant": {"tenant_id": uuid4()}, "number": {"number_id": uuid4()}, "unknown": {"endpoint_id": uuid4()}}
    answer = await trying(rig)(asked(rig, endpoint_id, **reach[foreign]))
    assert isinstance(answer, Rejected)
    assert answer.code == "WEBHOOK_NOT_FOUND"
    assert await rig.states() == []


async def test_what_is_switched_off_is_not_tried(rig: Any, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.manage.change(ChangeEndpoint(tenant_id=rig.tenant_id, endpoint_id=endpoint_id, active=False))
    answer = await trying(rig)(asked(rig, endpoint_id))
    assert isinstance(answer, Rejected)
    assert answer.code == "WEBHOOK_INACTIVE"
    assert await rig.states() == []
