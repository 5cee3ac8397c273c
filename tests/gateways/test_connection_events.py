"""What Evolution's events say about an instance's connection."""

import pytest

from gateways.evolution.webhooks import translate
from gateways.port import ConnectionChange, ConnectionState, Observation, Unreadable


def single(payload: object) -> Observation:
    observations = translate(payload)
    assert len(observations) == 1
    return observations[0]


@pytest.mark.parametrize(
    ("event", "data", "state", "reason"),
    [
        ("connection.update", {"state": "open", "statusReason": 200}, ConnectionState.OPEN, None),
        ("connection.update", {"state": "connecting", "statusReason": 200}, ConnectionState.CONNECTING, None),
        ("connection.update", {"state": "close", "statusReason": 401}, ConnectionState.CLOSE, "401"),
        ("connection.update", {"state": "refused", "statusReason": 428}, ConnectionState.CLOSE, "refused"),
        ("status.instance", {"status": "closed", "disconnectionReasonCode": 403}, ConnectionState.CLOSE, "403"),
        ("logout.instance", None, ConnectionState.CLOSE, "logout"),
        ("remove.instance", None, ConnectionState.CLOSE, "removed"),
        ("remove.instance", {"instance": "shop"}, ConnectionState.CLOSE, "removed"),
        ("instance.delete", {"instanceName": "shop"}, ConnectionState.CLOSE, "removed"),
        ("connection.update", {"state": "close", "statusReason": "428"}, ConnectionState.CLOSE, "428"),
        ("connection.update", {"state": "close", "statusReason": "<script>"}, ConnectionState.CLOSE, None),
        ("connection.update", {"state": "close", "statusReason": 10**5000}, ConnectionState.CLOSE, None),
    ],
)
def test_connection_changes(event: str, data: object, state: ConnectionState, reason: str | None) -> None:
    expected = ConnectionChange(instance="shop", state=state, reason=reason)
    assert single({"event": event, "instance": "shop", "data": data}) == expected


def test_a_connection_may_name_its_instance_inside() -> None:
    payload = {"event": "connection.update", "data": {"instance": "shop", "state": "open", "statusReason": 200}}
    assert single(payload) == ConnectionChange(instance="shop", state=ConnectionState.OPEN)
    assert single({"event": "connection.update", "data": {"state": "open"}}) == Unreadable(reason="instance_missing")


@pytest.mark.parametrize("data", [{"state": "sideways"}, {}, None, {"state": ["open"]}])
def test_an_unknown_connection_state_goes_into_quarantine(data: object) -> None:
    payload = {"event": "connection.update", "instance": "shop", "data": data}
    assert single(payload) == Unreadable(reason="state_unknown")
