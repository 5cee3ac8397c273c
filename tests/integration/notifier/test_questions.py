"""Questions about endpoints over a real broker, as the api asks them."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from chassis.questions import Asker, QuestionFailedError
from contracts.questions import EndpointRegistered, Endpoints, ListEndpoints, RegisterEndpoint, Rejected

from .conftest import QUEUE, Ask


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build()


def registration(rig: Any, url: str, **changes: Any) -> RegisterEndpoint:
    fields = {
        "tenant_id": rig.tenant_id,
        "number_id": rig.number_id,
        "instance": "acme",
        "name": "hook",
        "url": url,
        "events": ("message.read", "message.sent", "message.read"),
    }
    return RegisterEndpoint(**{**fields, **changes})


async def test_the_secret_is_shown_once_and_travels_sealed(rig: Any, ask: Ask, customer: Any) -> None:
    registered = await ask(registration(rig, customer.url()))
    assert isinstance(registered, EndpointRegistered)
    endpoint = registered.endpoint
    secret = rig.ring.open(registered.sealed_secret, aad=endpoint.endpoint_id.bytes).decode()
    assert secret.startswith("whsec_")
    assert len(secret) == len("whsec_") + 44
    assert endpoint.events == ("message.read", "message.sent")
    assert endpoint.active
    listed = await ask(ListEndpoints(tenant_id=rig.tenant_id))
    assert listed == Endpoints(endpoints=(endpoint,))
    assert secret not in registered.model_dump_json()
    assert "secret" not in listed.model_dump_json()


async def test_every_endpoint_has_its_own_secret(rig: Any, customer: Any) -> None:
    secrets = {(await rig.endpoint(customer.url(f"/{index}")))[1] for index in range(5)}
    assert len(secrets) == 5


async def test_listing_is_scoped(rig: Any, ask: Ask, customer: Any) -> None:
    first = await ask(registration(rig, customer.url("/1")))
    second = await ask(registration(rig, customer.url("/2"), number_id=uuid4()))
    await ask(registration(rig, customer.url("/3"), tenant_id=uuid4()))
    everything = await ask(ListEndpoints(tenant_id=rig.tenant_id))
    assert everything.endpoints == (first.endpoint, second.endpoint)
    of_number = await ask(ListEndpoints(tenant_id=rig.tenant_id, number_id=rig.number_id))
    assert of_number.endpoints == (first.endpoint,)


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"events": ("message.sent", "message.exploded")}, "UNKNOWN_EVENT", "events"),
        ({"url": "http://169.254.169.254/"}, "WEBHOOK_URL_REFUSED", "url"),
        ({"url": "nonsense"}, "WEBHOOK_URL_REFUSED", "url"),
    ],
)
async def test_bad_input_is_rejected(
    rig: Any, ask: Ask, customer: Any, changes: dict[str, Any], code: str, field: str
) -> None:
    answer = await ask(registration(rig, **{"url": customer.url(), **changes}))
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.field) == (code, field)
    assert "nonsense" not in answer.message


async def test_the_same_url_twice_on_one_number_is_rejected(rig: Any, ask: Ask, customer: Any) -> None:
    await ask(registration(rig, customer.url()))
    answer = await ask(registration(rig, customer.url()))
    assert isinstance(answer, Rejected)
    assert answer.code == "WEBHOOK_ALREADY_EXISTS"
    assert isinstance(await ask(registration(rig, customer.url(), number_id=uuid4())), EndpointRegistered)


async def test_at_most_twenty_per_number_even_at_once(rig: Any, ask: Ask, customer: Any) -> None:
    answers = await asyncio.gather(*(ask(registration(rig, customer.url(f"/{index}"))) for index in range(30)))
    rejected = [answer for answer in answers if isinstance(answer, Rejected)]
    assert {answer.code for answer in rejected} == {"TOO_MANY_WEBHOOKS"}
    assert len(rejected) == 10


async def test_something_else_is_answered_by_an_error(rig: Any, vhost_url: str, ask: Ask) -> None:
    asker = Asker(vhost_url, service="test")
    with pytest.raises(QuestionFailedError):
        await asker.ask(QUEUE, b"{}", type="no.such.v1", timeout_seconds=10)
    with pytest.raises(QuestionFailedError):
        await asker.ask(QUEUE, b'{"tenant_id": 1}', type=ListEndpoints.TYPE, timeout_seconds=10)
    await asker.stop()
