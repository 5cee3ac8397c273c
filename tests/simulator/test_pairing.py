"""Instances that wait to be paired, and what ends a session or an instance."""

from collections.abc import AsyncIterator

import pytest
from tests.simulator.conftest import _serial

from evolution_simulator.testing import SimulatorProcess, WebhookReceiver


@pytest.fixture
async def unpaired(simulator: SimulatorProcess, receiver: WebhookReceiver) -> AsyncIterator[str]:
    name = f"unpaired-{next(_serial)}"
    body = {"instanceName": name, "qrcode": True, "number": "5511900000001", "webhook": {"url": receiver.url}}
    created = await simulator.client.post("/instance/create", json=body)
    assert created.status_code == 201
    assert created.json()["instance"]["status"] == "connecting"
    assert created.json()["qrcode"]["base64"].startswith("data:image/png;base64,")
    assert len(created.json()["qrcode"]["pairingCode"]) == 8
    yield name
    await simulator.settled()


async def state_of(simulator: SimulatorProcess, name: str) -> str:
    return str((await simulator.client.get(f"/instance/connectionState/{name}")).json()["instance"]["state"])


async def test_it_stays_connecting_until_somebody_scans(
    simulator: SimulatorProcess, receiver: WebhookReceiver, unpaired: str
) -> None:
    again = await simulator.client.get(f"/instance/connect/{unpaired}")
    assert again.json()["count"] == 1
    assert await state_of(simulator, unpaired) == "connecting"
    await simulator.client.post(f"/simulator/instances/{unpaired}/state", json={"state": "open"})
    [told] = await receiver.wait_for(1)
    assert (told.body["event"], told.body["data"]["state"]) == ("connection.update", "open")
    connected = await simulator.client.get(f"/instance/connect/{unpaired}")
    assert connected.json() == {"instance": {"instanceName": unpaired, "state": "open"}}


async def test_a_paired_number_connects_again_without_a_code(simulator: SimulatorProcess, instance: str) -> None:
    await simulator.client.post(f"/simulator/instances/{instance}/state", json={"state": "close"})
    connected = await simulator.client.get(f"/instance/connect/{instance}")
    assert connected.json()["instance"]["state"] == "open"


async def test_logging_out_ends_the_session_for_good(simulator: SimulatorProcess, instance: str) -> None:
    assert (await simulator.client.delete(f"/instance/logout/{instance}")).json()["error"] is False
    assert await state_of(simulator, instance) == "close"
    twice = await simulator.client.delete(f"/instance/logout/{instance}")
    assert twice.status_code == 400
    assert twice.json()["response"]["message"] == [f'The "{instance}" instance is not connected']
    assert (await simulator.client.get(f"/instance/connect/{instance}")).json()["base64"]
    assert await state_of(simulator, instance) == "connecting"


async def test_a_deleted_instance_is_unknown(simulator: SimulatorProcess, instance: str) -> None:
    assert (await simulator.client.delete(f"/instance/delete/{instance}")).json()["status"] == "SUCCESS"
    assert (await simulator.client.get(f"/instance/connectionState/{instance}")).status_code == 404
    assert (await simulator.client.post("/instance/create", json={"instanceName": instance})).status_code == 201


async def test_restart_fails_with_a_200_and_works_with_one(simulator: SimulatorProcess, instance: str) -> None:
    assert (await simulator.client.post(f"/instance/restart/{instance}")).json()["instance"]["state"] == "open"
    await simulator.client.post(f"/simulator/instances/{instance}/state", json={"state": "close"})
    failed = await simulator.client.post(f"/instance/restart/{instance}")
    assert (failed.status_code, failed.json()["error"]) == (200, True)


async def test_groups_need_a_connection(simulator: SimulatorProcess, instance: str) -> None:
    path = f"/group/fetchAllGroups/{instance}?getParticipants=false"
    [group] = (await simulator.client.get(path)).json()
    assert group["id"].endswith("@g.us")
    await simulator.client.post(f"/simulator/instances/{instance}/state", json={"state": "close"})
    assert (await simulator.client.get(path)).status_code == 500
