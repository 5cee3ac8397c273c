"""Operators pace a number by gap, burst, caps and environment; what cannot be is refused by its name."""

from typing import Any

import httpx
import pytest

from .running import OPERATOR_KEY, RunningApi

FULL = {
    "otp": {"min_ms": 100, "max_ms": 200, "burst": 3, "per_hour": None, "per_day": None},
    "utility": {"min_ms": 1_000, "max_ms": 1_000, "burst": 1, "per_hour": 300, "per_day": 2_000},
    "test": {"otp": None, "utility": None, "marketing": {"min_ms": 0, "max_ms": 0, "burst": 1, "per_hour": 9}},
    "min_share": 5,
    "first_contacts_per_day": 50,
    "do_not_repeat_seconds": 3_600,
    "max_in_flight": 2,
}


async def pace(api: RunningApi, number_id: str, body: dict[str, Any]) -> httpx.Response:
    path, headers = f"/v1/admin/numbers/{number_id}/pacing", {"x-operator-key": OPERATOR_KEY}
    return await api.client.request("PUT", path, json=body, headers=headers)


async def test_every_part_of_a_policy_can_be_set_and_read(api: RunningApi) -> None:
    number = await api.number()
    answer = await pace(api, number["id"], FULL)
    assert answer.status_code == 200
    kept = answer.json()["pacing"]
    assert {name: kept[name] for name in FULL if name != "test"} == {n: v for n, v in FULL.items() if n != "test"}
    assert kept["test"]["marketing"]["per_hour"] == 9
    assert kept["live"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"otp": {"min_ms": 200, "max_ms": 100}}, "otp.max_ms"),
        ({"live": {"utility": {"min_ms": 200, "max_ms": 100}}}, "live.utility.max_ms"),
        ({"utility": {"min_ms": 0, "max_ms": 0, "per_hour": 0}}, "utility.per_hour"),
        ({"utility": {"min_ms": 0, "max_ms": 0, "burst": 0}}, "utility.burst"),
        ({"utility": {"max_ms": 0}}, "utility.min_ms"),
        ({"min_share": 1}, "min_share"),
        ({"first_contacts_per_day": -1}, "first_contacts_per_day"),
        ({"do_not_repeat_seconds": 10_000_000}, "do_not_repeat_seconds"),
    ],
)
async def test_a_policy_that_cannot_be_is_refused_by_its_name(
    api: RunningApi, body: dict[str, Any], field: str
) -> None:
    number = await api.number()
    answer = await pace(api, number["id"], body)
    assert answer.status_code in (400, 422)
    assert field in answer.text
