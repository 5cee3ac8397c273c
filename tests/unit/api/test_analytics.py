"""Figures by local day: clock changes, comparison with the period before, and shares."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from api.access.domain import KeyScope
from api.analytics.domain import DayCount, Length, dashboard, window, zone_of
from api.analytics.usecases import ShowDashboard
from api.refusals import Refusal, RefusedError
from contracts.status import Status

from .people import CALLER

NOW = datetime(2025, 6, 2, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(("length", "days"), [(Length.WEEK, 7), (Length.MONTH, 30), (Length.QUARTER, 90)])
def test_the_window_ends_today_and_has_as_many_days_to_compare_with(length: Length, days: int) -> None:
    found = window(length, zone=zone_of("UTC"), now=NOW)
    assert (found.length, len(found.days), len(found.midnights)) == (days, 2 * days, 2 * days + 1)
    assert found.days[-1] == NOW.date()
    assert found.midnights[-1] == datetime(2025, 6, 3, tzinfo=UTC)


def test_today_is_the_zones_today() -> None:
    assert window(Length.WEEK, zone=zone_of("America/Sao_Paulo"), now=NOW).days[-1] == date(2025, 6, 1)
    assert window(Length.WEEK, zone=zone_of("Pacific/Kiritimati"), now=NOW).days[-1] == date(2025, 6, 2)


def test_days_with_a_clock_change_are_23_or_25_hours_long() -> None:
    spring = window(Length.WEEK, zone=zone_of("Europe/Lisbon"), now=datetime(2025, 3, 31, 12, tzinfo=UTC))
    autumn = window(Length.WEEK, zone=zone_of("Europe/Lisbon"), now=datetime(2025, 10, 27, 12, tzinfo=UTC))
    for found, hours in ((spring, 23), (autumn, 25)):
        lengths = [after - before for before, after in zip(found.midnights, found.midnights[1:], strict=False)]
        assert lengths.count(timedelta(hours=hours)) == 1
        assert lengths.count(timedelta(hours=24)) == len(lengths) - 1


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "UTC\x00", "BRT-3", "a" * 64, "/etc/localtime"])
def test_a_bad_zone_is_refused(name: str) -> None:
    with pytest.raises(RefusedError) as refused:
        zone_of(name)
    assert (refused.value.refusal, refused.value.field) == (Refusal.TIMEZONE_INVALID, "tz")


def counts(*entries: tuple[int, Status, int]) -> list[DayCount]:
    return [DayCount(day=day, status=status, count=count) for day, status, count in entries]


def test_the_published_example_of_the_failure_rate() -> None:
    shown = dashboard(
        window(Length.WEEK, zone=zone_of("UTC"), now=NOW),
        counts((13, Status.READ, 120), (13, Status.FAILED, 3)),
    )
    assert (shown.total_sent, shown.total_failed, shown.failure_rate) == (120, 3, 2.44)


def test_the_later_half_counts_and_the_earlier_half_compares() -> None:
    shown = dashboard(
        window(Length.WEEK, zone=zone_of("UTC"), now=NOW),
        counts(
            (0, Status.READ, 10),
            (6, Status.FAILED, 4),
            (7, Status.DISPATCHED, 1),
            (7, Status.SENT, 2),
            (8, Status.DELIVERED, 3),
            (13, Status.READ, 9),
            (13, Status.FAILED, 2),
            (13, Status.QUEUED, 5),
            (13, Status.CANCELED, 50),
        ),
    )
    assert shown.distribution == {"queued": 5, "sent": 3, "delivered": 3, "read": 9, "failed": 2}
    assert (shown.total_sent, shown.total_failed) == (15, 2)
    assert (shown.sent_percent_change, shown.failed_percent_change) == (50.0, -50.0)
    assert [count for _, count in shown.daily] == [3, 3, 0, 0, 0, 0, 16]
    assert [day for day, _ in shown.daily][-1] == NOW.date()
    assert sum(count for _, count in shown.daily) == sum(shown.distribution.values())


def test_nothing_is_zero_everywhere() -> None:
    shown = dashboard(window(Length.QUARTER, zone=zone_of("UTC"), now=NOW), [])
    assert (shown.total_sent, shown.failure_rate, shown.sent_percent_change, len(shown.daily)) == (0, 0.0, 0.0, 90)


async def test_a_dashboard_is_one_numbers() -> None:
    nowhere: Any = None
    show = ShowDashboard(database=nowhere, clock=lambda: NOW)
    for caller, refusal in (
        (replace(CALLER, scope=KeyScope.TENANT), Refusal.TENANT_SCOPE_NOT_ALLOWED),
        (replace(CALLER, number=None), Refusal.NUMBER_NOT_FOUND),
    ):
        with pytest.raises(RefusedError) as refused:
            await show.show(caller, length=Length.WEEK, zone_name="UTC")
        assert refused.value.refusal is refusal
