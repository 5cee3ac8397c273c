"""`pilot webhooks`, against the shape of its routes."""

from uuid import uuid4

import pytest

from .conftest import Pilot
from .scripted import Platform

HOOK, TENANT = str(uuid4()), str(uuid4())
BASE = f"/v1/admin/webhooks/{HOOK}"


def test_webhooks_and_their_deliveries_are_listed(platform: Platform, pilot: Pilot) -> None:
    hook = {
        "id": HOOK,
        "tenantId": TENANT,
        "name": "shop",
        "origin": "https://x.example",
        "active": False,
        "disabledReason": "GONE",
        "events": ["*"],
    }
    delivery = {"id": "d-1", "event": "message.read", "status": "FAILED", "statusCode": 500, "attempts": 10}
    platform.answers["GET /v1/admin/webhooks"] = (200, {"items": [hook], "nextCursor": None})
    platform.answers[f"GET {BASE}"] = (200, hook)
    platform.answers[f"GET {BASE}/deliveries"] = (200, {"items": [delivery], "nextCursor": None})
    assert pilot("webhooks", "list", "--tenant", TENANT, "--json").json()["items"] == [hook]
    assert platform.asked[0].query["tenantId"] == TENANT
    assert "https://x.example" in pilot("webhooks", "get", HOOK).out
    ended = pilot("webhooks", "deliveries", HOOK)
    assert ended.out.splitlines()[1].split("\t")[:4] == ["d-1", "message.read", "FAILED", "500"]


def test_some_deliveries_are_replayed_one_by_one(platform: Platform, pilot: Pilot) -> None:
    missing = {"error": "There is no such delivery.", "code": "DELIVERY_NOT_FOUND", "requestId": "r-1"}
    platform.answers[f"POST {BASE}/deliveries/d-1/replay"] = (202, {"id": "d-1"})
    platform.answers[f"POST {BASE}/deliveries/d-2/replay"] = (404, missing)
    ended = pilot("webhooks", "replay", HOOK, "d-1", "d-2", "d-1", "--yes")
    assert ended.exit_code == 3
    assert "1 will be delivered again." in ended.out
    assert "d-2: There is no such delivery." in ended.err
    assert len(platform.asked) == 2


def test_a_period_is_replayed_to_its_end(platform: Platform, pilot: Pilot) -> None:
    portions = [
        {"count": 500, "deliveryIds": [], "skipped": ["d-7"], "nextCursor": "c1"},
        {"count": 12, "deliveryIds": [], "skipped": [], "nextCursor": None},
    ]
    platform.answers[f"POST {BASE}/replay"] = [(202, portion) for portion in portions] * 2
    period = ["--from", "2030-01-01T00:00:00Z", "--to", "2030-01-02T00:00:00Z", "--event", "message.read"]
    ended = pilot("webhooks", "replay", HOOK, *period, "--status", "FAILED", "--yes", "--json")
    assert ended.json() == portions
    assert platform.asked[0].body == {
        "from": "2030-01-01T00:00:00Z",
        "to": "2030-01-02T00:00:00Z",
        "events": ["message.read"],
        "status": "FAILED",
    }
    assert platform.asked[1].body == {**platform.asked[0].body, "cursor": "c1"}
    ended = pilot("webhooks", "replay", HOOK, *period, "--yes")
    assert "512 will be delivered again." in ended.out
    assert "d-7" in ended.err


@pytest.mark.parametrize("arguments", [[], ["d-1", "--from", "a", "--to", "b"], ["--from", "a"]])
def test_what_is_not_clear_is_not_done(platform: Platform, pilot: Pilot, arguments: list[str]) -> None:
    assert pilot("webhooks", "replay", HOOK, *arguments, "--yes").exit_code == 2
    assert platform.asked == []


def test_a_webhook_is_switched_on_again(platform: Platform, pilot: Pilot) -> None:
    platform.answers[f"POST {BASE}/enable"] = (200, {"id": HOOK, "active": True})
    assert pilot("webhooks", "enable", HOOK).exit_code == 2
    assert pilot("webhooks", "enable", HOOK, "--yes").exit_code == 0
    assert platform.routes() == [f"POST {BASE}/enable"]
