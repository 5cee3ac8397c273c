"""Creating, pairing and removing instances, and pointing their webhooks at us, over a real socket."""

from collections.abc import AsyncIterator, Mapping

import pytest
from tests.gateways.conftest import Behaviour, ScriptedGateway, answer, raw_then_hang

from gateways.evolution import (
    SUBSCRIBED_EVENTS,
    EvolutionInstances,
    GatewayAccessDeniedError,
    InstanceCallError,
    InstanceInfo,
    InstanceNameTakenError,
    InstanceNotFoundError,
    InstanceTimeoutError,
    Timeouts,
)
from gateways.port import ConnectionState

HOOK = "https://hooks.example.com/webhooks/evolution/shop"


@pytest.fixture
async def instances() -> AsyncIterator[EvolutionInstances]:
    timeouts = Timeouts(connect_seconds=0.3, write_seconds=0.3, query_seconds=0.3)
    async with EvolutionInstances(timeouts=timeouts) as opened:
        yield opened


def refusal(status: int, message: object) -> Behaviour:
    return answer(status, {"status": status, "error": "x", "response": {"message": message}})


async def test_create_sends_name_token_and_channel(gateway: ScriptedGateway, instances: EvolutionInstances) -> None:
    gateway.script = [answer(201, {"instance": {"instanceName": "shop"}, "hash": "T"})]
    await instances.create(gateway.access(), token="T", integration="EVOLUTION", phone="5511900000000")
    assert (gateway.seen[0].method, gateway.seen[0].target) == ("POST", "/instance/create")
    assert gateway.seen[0].json() == {
        "instanceName": "shop",
        "integration": "EVOLUTION",
        "token": "T",
        "qrcode": False,
        "number": "5511900000000",
    }


async def test_the_webhook_body_is_wrapped_and_names_its_events(
    gateway: ScriptedGateway, instances: EvolutionInstances
) -> None:
    gateway.script = [answer(201, {"id": "w1", "enabled": True})]
    await instances.set_webhook(gateway.access(), url=HOOK, headers={"authorization": "Bearer x"})
    assert gateway.seen[0].target == "/webhook/set/shop"
    assert gateway.seen[0].json() == {
        "webhook": {
            "enabled": True,
            "url": HOOK,
            "byEvents": False,
            "base64": False,
            "headers": {"authorization": "Bearer x"},
            "events": list(SUBSCRIBED_EVENTS),
        }
    }
    assert {"MESSAGES_UPDATE", "SEND_MESSAGE", "CONNECTION_UPDATE", "LOGOUT_INSTANCE"} <= set(SUBSCRIBED_EVENTS)


async def test_a_webhook_url_that_evolution_would_ignore_is_refused(
    gateway: ScriptedGateway, instances: EvolutionInstances
) -> None:
    gateway.script = [answer(201, {})]
    with pytest.raises(ValueError, match="http"):
        await instances.set_webhook(gateway.access(), url="hooks.example.com")
    assert gateway.seen == []


async def test_fetch_describes_one_instance_without_its_token(
    gateway: ScriptedGateway, instances: EvolutionInstances
) -> None:
    row = {
        "name": "shop",
        "connectionStatus": "open",
        "ownerJid": "5511900000000:3@s.whatsapp.net",
        "token": "SECRET",
        "number": None,
    }
    gateway.script = [answer(200, [{"name": "other"}, row])]
    info = await instances.fetch(gateway.access())
    assert info == InstanceInfo(name="shop", state=ConnectionState.OPEN, phone="5511900000000")
    assert "SECRET" not in repr(info)
    assert "5511900000000" not in repr(info)
    assert gateway.seen[0].target == "/instance/fetchInstances?instanceName=shop"


@pytest.mark.parametrize("behaviour", [refusal(404, ['Instance "shop" not found']), answer(200, [])])
async def test_an_instance_that_is_not_listed(
    gateway: ScriptedGateway, instances: EvolutionInstances, behaviour: Behaviour
) -> None:
    gateway.script = [behaviour]
    with pytest.raises(InstanceNotFoundError):
        await instances.fetch(gateway.access())


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (refusal(403, ['This name "shop" is already in use.']), InstanceNameTakenError),
        (refusal(403, ["Forbidden"]), GatewayAccessDeniedError),
        (refusal(401, "Unauthorized"), GatewayAccessDeniedError),
        (refusal(400, [["instance requires property"]]), InstanceCallError),
        (refusal(500, "reading 'length'"), InstanceCallError),
        (answer(200, {"error": True, "message": "no"}), InstanceCallError),
        (answer(502, b"<html>"), InstanceCallError),
        (raw_then_hang(), InstanceTimeoutError),
    ],
)
async def test_failures_are_typed(
    gateway: ScriptedGateway, instances: EvolutionInstances, behaviour: Behaviour, error: type[Exception]
) -> None:
    gateway.script = [behaviour]
    with pytest.raises(error) as failure:
        await instances.create(gateway.access(), token="TOKEN-T")
    assert failure.type is error
    assert "TOKEN-T" not in str(failure.value)


@pytest.mark.parametrize("headers", [None, {"x-secret": "s"}])
async def test_a_webhook_for_an_unknown_instance(
    gateway: ScriptedGateway, instances: EvolutionInstances, headers: Mapping[str, str] | None
) -> None:
    gateway.script = [refusal(404, ['The "shop" instance does not exist'])]
    with pytest.raises(InstanceNotFoundError):
        await instances.set_webhook(gateway.access(), url=HOOK, headers=headers)
