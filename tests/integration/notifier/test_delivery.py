"""What reaches a customer's server, and what follows from its answer."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from pilot_status import parse_customer_webhook
from standardwebhooks.webhooks import Webhook

from contracts.facts import EndpointDisabled, WebhookDelivered, WebhookExhausted
from contracts.questions import FindEndpoint
from contracts.status import Status

TEXT = 'Olá 👩‍👩‍👧 "ç" </script> \u2028 1.0 1e3'


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build()


async def due_again(rig: Any) -> datetime:
    rows = await rig.rows("SELECT max(due_at) AS due_at FROM notifier.deliveries")
    latest: datetime = rows[0].due_at
    return latest + timedelta(milliseconds=1)


async def test_body_is_what_the_sdk_reads_and_both_signatures_hold(rig: Any, customer: Any) -> None:
    _, secret = await rig.endpoint(customer.url())
    fact = rig.fact(text=TEXT)
    await rig.hear(fact)
    assert await rig.work_off() == 1
    [request] = customer.received
    assert request.method == "POST"
    by_package = Webhook(secret).verify(request.body, request.headers)
    by_hand = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-pilot-status-signature"] == by_hand
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{standard}"
    event = parse_customer_webhook(json.loads(request.body), unknown_events="raise")
    assert event == by_package
    assert TEXT.encode() in request.body.replace(b'\\"', b'"')
    data: Any = event["data"]
    assert (data["to"], data["content"], data["status"]) == ("+5511912345678", TEXT, "DELIVERED")
    assert data["id"] == str(fact.ref.message_id)


async def test_headers(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact(Status.READ))
    await rig.work_off()
    headers = customer.received[0].headers
    [row] = await rig.rows("SELECT delivery_id FROM notifier.deliveries")
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "pilot-status-webhooks/1"
    assert headers["x-pilot-status-event"] == "message.read"
    assert headers["x-pilot-status-delivery"] == headers["webhook-id"] == str(row.delivery_id)
    assert headers["x-pilot-status-attempt"] == "1"
    assert abs(int(headers["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < 60
    assert "traceparent" not in headers


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_every_2xx_is_success(rig: Any, customer: Any, status: int) -> None:
    customer.replies["/hook"] = [customer.reply(status=status)]
    endpoint_id, _ = await rig.endpoint(customer.url())
    fact = rig.fact()
    await rig.hear(fact)
    await rig.work_off()
    assert await rig.states() == ["DELIVERED"]
    [said] = await rig.said()
    assert isinstance(said, WebhookDelivered)
    assert (said.endpoint_id, said.attempts, said.last_status, said.event) == (
        endpoint_id,
        1,
        status,
        "message.delivered",
    )
    assert said.ref == fact.ref
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert (attempt.status, attempt.problem, attempt.sealed_response) == (status, None, None)


async def test_retries_until_it_works_with_one_id_and_one_body(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply(status=429), customer.reply()]
    _, secret = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    for _ in range(3):
        assert await rig.work_off(now=await due_again(rig)) == 1
    assert await rig.states() == ["DELIVERED"]
    assert len({(r.headers["webhook-id"], r.body) for r in customer.received}) == 1
    assert [r.headers["x-pilot-status-attempt"] for r in customer.received] == ["1", "2", "3"]
    for request in customer.received:
        Webhook(secret).verify(request.body, request.headers)
    attempts = await rig.rows("SELECT status, problem FROM notifier.delivery_attempts ORDER BY attempt")
    assert [(a.status, a.problem) for a in attempts] == [(500, "STATUS"), (429, "STATUS"), (200, None)]
    [endpoint] = await rig.rows("SELECT * FROM notifier.endpoints")
    assert (endpoint.failures, endpoint.failing_since, endpoint.in_flight) == (0, None, 0)


async def test_not_before_the_pause_is_over(build: Any, customer: Any) -> None:
    rig = await build(pauses=(3600,))
    customer.replies["/hook"] = [customer.reply(status=503)]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    due_at = await due_again(rig)
    assert await rig.work_off(now=due_at - timedelta(seconds=1)) == 0
    assert await rig.work_off(now=due_at) == 1


async def test_retry_after_lengthens_the_pause(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=503, headers={"retry-after": "600"})]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    wait = await due_again(rig) - datetime.now(UTC)
    assert timedelta(seconds=570) < wait <= timedelta(seconds=601)


async def test_exhausted_after_the_last_pause_and_kept_in_the_log(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500, body=b"5511912345678 broke")]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    for _ in range(3):
        assert await rig.work_off(now=await due_again(rig)) == 1
    assert await rig.states() == ["EXHAUSTED"]
    assert await rig.work_off(now=datetime.now(UTC) + timedelta(days=3)) == 0
    [said] = await rig.said()
    assert isinstance(said, WebhookExhausted)
    assert (said.attempts, said.last_status) == (3, 500)
    attempts = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert len(attempts) == 3
    response = rig.ring.open(attempts[0].sealed_response, aad=attempts[0].delivery_id.bytes)
    assert response == b"5511912345678 broke"


async def test_410_switches_the_endpoint_off_says_so_once_and_keeps_what_follows(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=410)]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact(), rig.fact())
    await rig.work_off()
    [endpoint] = await rig.rows("SELECT * FROM notifier.endpoints")
    assert (endpoint.active, endpoint.disabled_reason) == (False, "GONE")
    assert await rig.states() == ["EXHAUSTED"] * 2
    await rig.hear(rig.fact())
    assert await rig.work_off() == 0
    assert sorted(await rig.states()) == ["EXHAUSTED", "EXHAUSTED", "PENDING"], "it waits for better times"
    said = await rig.said()
    assert [type(fact) for fact in said] == [WebhookExhausted, WebhookExhausted, EndpointDisabled]
    assert (said[2].endpoint_id, said[2].tenant_id, said[2].reason) == (endpoint_id, rig.tenant_id, "GONE")
    assert said[2].at == endpoint.disabled_at


async def test_an_endpoint_that_fails_for_days_is_switched_off(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500)]
    await rig.endpoint(customer.url())
    await rig.rows("UPDATE notifier.endpoints SET failures = 19, failing_since = now() - interval '6 days' RETURNING 1")
    await rig.hear(rig.fact())
    await rig.work_off()
    [endpoint] = await rig.rows("SELECT * FROM notifier.endpoints")
    assert (endpoint.active, endpoint.disabled_reason) == (False, "STATUS")
    [said] = await rig.said()
    assert isinstance(said, EndpointDisabled)
    assert (said.reason, said.failing_since) == ("STATUS", endpoint.failing_since)
    found = await rig.manage.find(FindEndpoint(tenant_id=rig.tenant_id, endpoint_id=endpoint.endpoint_id))
    assert "five days" in found.endpoint.disabled_hint
    assert found.endpoint.disabled_at == endpoint.disabled_at


async def test_a_silent_endpoint_costs_no_more_than_the_timeout(build: Any, customer: Any) -> None:
    rig = await build(timeout_seconds=0.3)
    customer.replies["/hook"] = [customer.reply(hang=True)]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert attempt.problem == "TIMEOUT"
    assert 250 <= attempt.duration_ms < 5_000


@pytest.mark.parametrize("dripping", ["head", "body"])
async def test_an_endpoint_that_drips_costs_no_more_than_the_timeout(build: Any, customer: Any, dripping: str) -> None:
    """No single wait is long, so only a limit for the whole attempt ends it."""
    rig = await build(timeout_seconds=0.5)
    customer.replies["/hook"] = [customer.reply(status=200, drip=dripping)]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert attempt.problem == "TIMEOUT"
    assert 450 <= attempt.duration_ms < 10_000


async def test_an_endless_answer_is_cut_off(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500, endless=True)]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert attempt.status == 500
    assert len(rig.ring.open(attempt.sealed_response, aad=attempt.delivery_id.bytes)) == 1_024


async def test_nobody_listens_at_the_address(rig: Any, customer: Any) -> None:
    url = customer.url()
    await rig.endpoint(url.replace("127.0.0.1", "127.0.0.77"))
    await rig.hear(rig.fact())
    await rig.work_off()
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert (attempt.status, attempt.problem) == (None, "CONNECT_FAILED")


async def test_no_connection_is_used_twice(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    await rig.hear(*(rig.fact() for _ in range(5)))
    await rig.work_off()
    assert customer.connections == len(customer.received) == 5


async def test_a_delivery_that_cannot_be_opened_fails_alone_and_visibly(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact(), rig.fact())
    first = UUID(int=0)
    await rig.rows(
        "UPDATE notifier.deliveries SET sealed_body = 'AQJrMQ' WHERE delivery_id ="
        " (SELECT min(delivery_id::text)::uuid FROM notifier.deliveries WHERE delivery_id > :first) RETURNING 1",
        first=first,
    )
    await rig.work_off()
    assert sorted(await rig.states()) == ["DELIVERED", "PENDING"]
    rows = await rig.rows("SELECT problem FROM notifier.delivery_attempts")
    assert {row.problem for row in rows} == {None, "UNREADABLE"}
