"""Pairing, watching and removing instances over a real socket: what is read of each answer, and every failure typed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from tests.gateways.conftest import Behaviour, ScriptedGateway, answer, raw_then_hang

from gateways.evolution import (
    EvolutionInstances,
    GatewayAccessDeniedError,
    Group,
    InstanceCallError,
    InstanceNotFoundError,
    InstanceTimeoutError,
    Pairing,
    Timeouts,
)
from gateways.evolution.pairing import pairing_of
from gateways.port import Access, ConnectionState

QR = "data:image/png;base64,iVBORw0KGgo="
SUCCESS = {"status": "SUCCESS", "error": False, "response": {"message": "x"}}


@pytest.fixture
async def instances() -> AsyncIterator[EvolutionInstances]:
    timeouts = Timeouts(connect_seconds=0.3, write_seconds=0.3, query_seconds=0.3)
    async with EvolutionInstances(timeouts=timeouts) as opened:
        yield opened


def refusal(status: int, message: object) -> Behaviour:
    return answer(status, {"status": status, "error": "x", "response": {"message": message}})


async def test_create_can_ask_for_a_code_at_once(gateway: ScriptedGateway, instances: EvolutionInstances) -> None:
    code = {"pairingCode": "WZYEH1YY", "code": "2@x", "base64": QR, "count": 1}
    gateway.script = [answer(201, {"instance": {"instanceName": "shop", "status": "connecting"}, "qrcode": code})]
    pairing = await instances.create(gateway.access(), token="T", phone="5511900000000", pair=True)
    assert gateway.seen[0].json()["qrcode"] is True
    assert pairing == Pairing(qr_code=QR, code="WZYE-H1YY")
    assert QR not in repr(pairing)
    assert "WZYE" not in repr(pairing)


async def test_connect_gives_a_code_or_says_open(gateway: ScriptedGateway, instances: EvolutionInstances) -> None:
    gateway.script = [
        answer(200, {"pairingCode": None, "code": "2@x", "base64": QR, "count": 1}),
        answer(200, {"instance": {"instanceName": "shop", "state": "open"}}),
    ]
    assert await instances.connect(gateway.access()) == Pairing(qr_code=QR)
    assert await instances.connect(gateway.access()) == Pairing(state=ConnectionState.OPEN)
    assert (gateway.seen[0].method, gateway.seen[0].target) == ("GET", "/instance/connect/shop")


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ({"instance": {"state": "open"}}, ConnectionState.OPEN),
        ({"instance": {"state": "close"}}, ConnectionState.CLOSE),
        ({"instance": {"state": "refused"}}, ConnectionState.CLOSE),
        ({"instance": {}}, ConnectionState.CONNECTING),
        ({}, ConnectionState.CONNECTING),
    ],
)
async def test_the_state_is_one_of_three(
    gateway: ScriptedGateway, instances: EvolutionInstances, body: object, state: ConnectionState
) -> None:
    gateway.script = [answer(200, body)]
    assert await instances.state(gateway.access()) is state


@pytest.mark.parametrize(
    "odd", [None, [], "x", {"base64": 7, "pairingCode": 7}, {"base64": "http://a", "pairingCode": "x"}]
)
def test_what_is_no_code_is_none(odd: object) -> None:
    assert pairing_of(odd) == Pairing()


async def test_logging_out_twice_is_no_failure(gateway: ScriptedGateway, instances: EvolutionInstances) -> None:
    gateway.script = [answer(200, SUCCESS), refusal(400, ['The "shop" instance is not connected'])]
    await instances.logout(gateway.access())
    await instances.logout(gateway.access())
    assert {(seen.method, seen.target) for seen in gateway.seen} == {("DELETE", "/instance/logout/shop")}


async def test_delete_and_restart(gateway: ScriptedGateway, instances: EvolutionInstances) -> None:
    gateway.script = [answer(200, SUCCESS), answer(200, {"instance": {"state": "open"}})]
    await instances.delete(gateway.access())
    await instances.restart(gateway.access())
    assert [(seen.method, seen.target) for seen in gateway.seen] == [
        ("DELETE", "/instance/delete/shop"),
        ("POST", "/instance/restart/shop"),
    ]


async def test_groups_are_read_and_odd_rows_left_out(gateway: ScriptedGateway, instances: EvolutionInstances) -> None:
    rows = [{"id": "1@g.us", "subject": "Vendas", "size": 3}, {"id": "2@g.us"}, {"id": "x"}, 7]
    gateway.script = [answer(200, rows)]
    assert await instances.groups(gateway.access()) == [
        Group(group_id="1@g.us", subject="Vendas"),
        Group(group_id="2@g.us", subject=""),
    ]
    assert gateway.seen[0].target == "/group/fetchAllGroups/shop?getParticipants=false"


VERBS: list[Callable[[EvolutionInstances, Access], Awaitable[Any]]] = [
    EvolutionInstances.connect,
    EvolutionInstances.state,
    EvolutionInstances.logout,
    EvolutionInstances.delete,
    EvolutionInstances.restart,
    EvolutionInstances.groups,
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (refusal(404, ['The "shop" instance does not exist']), InstanceNotFoundError),
        (refusal(401, "Unauthorized"), GatewayAccessDeniedError),
        (refusal(500, "Connection Closed"), InstanceCallError),
        (answer(200, {"error": True, "message": "no"}), InstanceCallError),
        (answer(502, b"<html>"), InstanceCallError),
        (raw_then_hang(), InstanceTimeoutError),
    ],
)
async def test_every_failure_is_typed(
    gateway: ScriptedGateway,
    instances: EvolutionInstances,
    verb: Callable[[EvolutionInstances, Access], Awaitable[Any]],
    behaviour: Behaviour,
    error: type[Exception],
) -> None:
    gateway.script = [behaviour]
    with pytest.raises(error) as failure:
        await verb(instances, gateway.access())
    assert failure.type is error
