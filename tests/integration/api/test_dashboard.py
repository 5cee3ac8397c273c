"""GET /v1/analytics/dashboard: figures of the key's number in its own time zone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from .running import Account, RunningApi, code_of
from .stored import store
from .test_history import own

ZONE = "America/Sao_Paulo"


async def dashboard(api: RunningApi, key: str, query: str = "") -> dict[str, Any]:
    answer = await api.get(key, f"analytics/dashboard?{query}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def days_ago(api: RunningApi, account: Account, number_id: UUID, days: int, count: int, **more: Any) -> None:
    """Messages accepted at noon of a local day."""
    noon = datetime.now(ZoneInfo(ZONE)).replace(hour=12, minute=0, second=0, microsecond=0)
    if days == 0:
        noon = datetime.now(UTC) - timedelta(seconds=count + 1)
    await store(api, account, count, number_id=number_id, start=noon - timedelta(days=days), **more)


async def test_the_period_is_compared_with_the_one_before(api: RunningApi) -> None:
    account, number_id = await own(api)
    await days_ago(api, account, number_id, 1, 6, status="READ")
    await days_ago(api, account, number_id, 1, 2, status="FAILED")
    await days_ago(api, account, number_id, 2, 3, status="SENT")
    await days_ago(api, account, number_id, 3, 1, status="DISPATCHED")
    await days_ago(api, account, number_id, 3, 5, status="CANCELED")
    await days_ago(api, account, number_id, 9, 8, status="DELIVERED")
    await days_ago(api, account, number_id, 9, 1, status="FAILED")
    await days_ago(api, account, number_id, 20, 100, status="READ")
    await store(api, account, 50, start=datetime.now(UTC) - timedelta(days=1))
    shown = await dashboard(api, account.key, f"period=7d&tz={ZONE}")
    assert (shown["totalSent"], shown["totalFailed"]) == (10, 2)
    assert (shown["sentPercentChange"], shown["failedPercentChange"]) == (25.0, 100.0)
    assert shown["failureRate"] == 16.67
    assert shown["statusDistribution"] == {"queued": 0, "sent": 4, "delivered": 0, "read": 6, "failed": 2}
    today = datetime.now(ZoneInfo(ZONE)).date()
    assert [day["date"] for day in shown["dailyMessages"]] == [
        (today - timedelta(days=days)).isoformat() for days in range(6, -1, -1)
    ]
    assert [day["count"] for day in shown["dailyMessages"]] == [0, 0, 0, 1, 3, 8, 0]
    assert len((await dashboard(api, account.key))["dailyMessages"]) == 30
    assert (await dashboard(api, account.key, "period=30d"))["totalSent"] == 118
    assert len((await dashboard(api, account.key, "period=90d&timezone=Asia/Kolkata"))["dailyMessages"]) == 90


async def test_the_day_is_the_zones_day(api: RunningApi) -> None:
    account, number_id = await own(api)
    yesterday = datetime.now(UTC).date() - timedelta(days=2)
    late = datetime(yesterday.year, yesterday.month, yesterday.day, 23, 30, tzinfo=UTC)
    await store(api, account, number_id=number_id, start=late)

    async def day_of(zone: str) -> str:
        days = (await dashboard(api, account.key, f"tz={zone}"))["dailyMessages"]
        return str(next(day["date"] for day in days if day["count"]))

    assert await day_of("UTC") == yesterday.isoformat()
    assert await day_of("Asia/Tokyo") == (yesterday + timedelta(days=1)).isoformat()
    assert await day_of("America/Sao_Paulo") == yesterday.isoformat()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("tz=Mars/Olympus", "TIMEZONE_INVALID"),
        ("tz=", "TIMEZONE_INVALID"),
        ("timezone=../etc/passwd", "TIMEZONE_INVALID"),
        ("tz=%01", "TIMEZONE_INVALID"),
        ("tz=" + "a" * 65, "VALIDATION_FAILED"),
        ("period=1y", "VALIDATION_FAILED"),
    ],
)
async def test_a_bad_query_is_400(api: RunningApi, query: str, code: str) -> None:
    account = await api.account()
    assert code_of(await api.get(account.key, f"analytics/dashboard?{query}")) == (400, code)


async def test_a_tenant_key_has_no_dashboard_and_nobody_sees_anothers(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    issued = await api.operator("keys", projectId=account.project_id, environment="LIVE", name="all", scope="tenant")
    assert code_of(await api.get(issued["key"], "analytics/dashboard")) == (403, "TENANT_SCOPE_NOT_ALLOWED")
    assert (await api.send(account.key)).status_code == 202
    assert (await dashboard(api, account.key))["statusDistribution"]["queued"] == 1
    assert (await dashboard(api, other.key))["statusDistribution"]["queued"] == 0
