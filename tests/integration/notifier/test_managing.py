"""Questions that change endpoints and read their log, over a real broker."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chassis.clock import utc_now
from contracts.questions import (
    ChangeEndpoint,
    DeleteEndpoint,
    DeliveryLog,
    EndpointFound,
    Endpoints,
    FindEndpoint,
    ListDeliveryLog,
    ListEndpoints,
    Question,
    Rejected,
    RotateSecret,
    SecretRotated,
)
from contracts.status import Status
from notifier.usecases.forget_deleted import ForgetDeleted

from .conftest import Ask


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build(pauses=(60, 60))


def about(rig: Any, kind: type[Question], endpoint_id: UUID, **more: Any) -> Question:
    return kind.model_validate({"tenant_id": rig.tenant_id, "endpoint_id": endpoint_id, **more})


async def test_a_change_counts_and_leaves_the_rest(rig: Any, ask: Ask, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url(), "message.sent")
    answer = await ask(about(rig, ChangeEndpoint, endpoint_id, events=["message.read"], name="shop"))
    assert isinstance(answer, EndpointFound)
    assert (answer.endpoint.events, answer.endpoint.name, answer.endpoint.url) == (
        ("message.read",),
        "shop",
        customer.url(),
    )
    assert await ask(about(rig, FindEndpoint, endpoint_id)) == answer
    await rig.hear(rig.fact(Status.SENT), rig.fact(Status.READ))
    assert await rig.work_off() == 1
    await ask(about(rig, ChangeEndpoint, endpoint_id, active=False))
    await rig.hear(rig.fact(Status.READ))
    assert await rig.work_off() == 0


@pytest.mark.parametrize("kind", [FindEndpoint, DeleteEndpoint, RotateSecret, ListDeliveryLog, ChangeEndpoint])
@pytest.mark.parametrize("foreign", ["tenant", "number", "unknown"])
async def test_what_belongs_to_somebody_else_is_not_found(
    rig: Any, ask: Ask, customer: Any, kind: type[Question], foreign: str
) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    asked_id = uuid4() if foreign == "unknown" else endpoint_id
    reach = {"tenant": {"tenant_id": uuid4()}, "number": {"number_id": uuid4()}, "unknown": {}}
    answer = await ask(about(rig, kind, asked_id, **reach[foreign]))
    assert isinstance(answer, Rejected)
    assert answer.code == "WEBHOOK_NOT_FOUND"
    assert isinstance(await ask(about(rig, FindEndpoint, endpoint_id, number_id=rig.number_id)), EndpointFound)


async def test_an_endpoint_switched_on_again_starts_anew(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=410)]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    found = await ask(about(rig, FindEndpoint, endpoint_id))
    assert not found.endpoint.active
    await ask(about(rig, ChangeEndpoint, endpoint_id, active=True))
    [row] = await rig.rows("SELECT active, failures, failing_since, disabled_reason FROM notifier.endpoints")
    assert tuple(row) == (True, 0, None, None)


async def test_a_deleted_endpoint_hears_nothing_and_leaves_no_rows(rig: Any, ask: Ask, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    await rig.hear(rig.fact())
    assert isinstance(await ask(about(rig, DeleteEndpoint, endpoint_id)), EndpointFound)
    assert await rig.work_off() == 0
    await rig.hear(rig.fact())
    assert await rig.work_off() == 0
    assert await ask(ListEndpoints(tenant_id=rig.tenant_id)) == Endpoints(endpoints=())
    for kind in (FindEndpoint, ListDeliveryLog, RotateSecret, DeleteEndpoint):
        assert isinstance(await ask(about(rig, kind, endpoint_id)), Rejected)
    assert await ForgetDeleted(database=rig.database, clock=utc_now)() is False
    assert len(await rig.rows("SELECT 1 FROM notifier.endpoints")) == 1
    later = ForgetDeleted(database=rig.database, clock=lambda: utc_now() + timedelta(minutes=2), bite=1)
    while await later():
        pass
    for table in ("endpoints", "deliveries", "delivery_attempts"):
        assert await rig.rows(f"SELECT 1 FROM notifier.{table}") == []


async def test_a_replaced_secret_signs_along_for_a_day(rig: Any, ask: Ask, customer: Any) -> None:
    endpoint_id, old = await rig.endpoint(customer.url())
    answer = await ask(about(rig, RotateSecret, endpoint_id))
    assert isinstance(answer, SecretRotated)
    new = rig.ring.open(answer.sealed_secret, aad=endpoint_id.bytes).decode()
    assert new != old
    assert timedelta(hours=23, minutes=59) < answer.previous_valid_until - datetime.now(UTC) <= timedelta(hours=24)
    await rig.hear(rig.fact())
    await rig.work_off()
    during = customer.received[0]
    assert during.headers["x-pilot-status-signature"] == digest(new, during.body)
    assert during.headers["x-pilot-status-signature-previous"] == digest(old, during.body)
    assert len(during.headers["webhook-signature"].split()) == 2
    await rig.hear(rig.fact())
    await rig.work_off(now=answer.previous_valid_until + timedelta(seconds=1))
    after = customer.received[1]
    assert after.headers["x-pilot-status-signature"] == digest(new, after.body)
    assert "x-pilot-status-signature-previous" not in after.headers
    assert len(after.headers["webhook-signature"].split()) == 1


async def test_the_log_tells_of_every_attempt_and_travels_sealed(rig: Any, ask: Ask, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500, body=b"no idea who +5511912345678 is")]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact(Status.SENT, text="Segredo"))
    await rig.work_off()
    customer.replies["/hook"] = [customer.reply(status=204)]
    await rig.hear(rig.fact(Status.READ))
    await rig.work_off()
    log = await ask(about(rig, ListDeliveryLog, endpoint_id))
    assert isinstance(log, DeliveryLog)
    assert [(entry.event, entry.succeeded, entry.status) for entry in log.attempts] == [
        ("message.read", True, 204),
        ("message.sent", False, 500),
    ]
    failed = log.attempts[1]
    assert b"Segredo" in rig.ring.open(failed.sealed_payload, aad=failed.delivery_id.bytes)
    assert b"no idea" in rig.ring.open(failed.sealed_response, aad=failed.delivery_id.bytes)
    assert "Segredo" not in log.model_dump_json()
    assert "5511912345678" not in log.model_dump_json()
    only = await ask(about(rig, ListDeliveryLog, endpoint_id, event="message.sent"))
    assert [entry.event for entry in only.attempts] == ["message.sent"]
    assert len((await ask(about(rig, ListDeliveryLog, endpoint_id, limit=1))).attempts) == 1


def digest(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
