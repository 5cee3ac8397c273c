"""Delivery windows: instants with an offset, in an order that makes sense."""

from datetime import UTC, datetime, timedelta

import pytest

from api.messages.domain.window import delivery_window
from api.refusals import Refusal, RefusedError
from contracts.values import Category

from .people import NOW


def window(
    at: str | None = None, until: str | None = None, category: Category = Category.UTILITY
) -> tuple[datetime, datetime]:
    return delivery_window(deliver_at=at, deliver_until=until, category=category, now=NOW)


def refused_field(at: str | None = None, until: str | None = None) -> str | None:
    with pytest.raises(RefusedError) as raised:
        window(at, until)
    assert raised.value.refusal is Refusal.SCHEDULE_INVALID
    return raised.value.field


def iso(**offset: float) -> str:
    return (NOW + timedelta(**offset)).isoformat()


@pytest.mark.parametrize(
    ("category", "minutes"), [(Category.OTP, 2), (Category.UTILITY, 60), (Category.MARKETING, 240)]
)
def test_defaults_are_now_and_the_categorys_window(category: Category, minutes: int) -> None:
    assert window(category=category) == (NOW, NOW + timedelta(minutes=minutes))


def test_the_default_end_counts_from_the_start() -> None:
    assert window(iso(hours=5)) == (NOW + timedelta(hours=5), NOW + timedelta(hours=6))


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2025-06-02T10:00:00-03:00", datetime(2025, 6, 2, 13, tzinfo=UTC)),
        ("2025-06-02T13:00:00Z", datetime(2025, 6, 2, 13, tzinfo=UTC)),
        ("2025-06-02t13:00:00z", datetime(2025, 6, 2, 13, tzinfo=UTC)),
        ("2025-06-02 13:00:00.5+00:00", datetime(2025, 6, 2, 13, 0, 0, 500_000, tzinfo=UTC)),
        ("2025-06-02T13:00:00.123456789Z", datetime(2025, 6, 2, 13, 0, 0, 123_456, tzinfo=UTC)),
    ],
)
def test_rfc_3339_is_read_exactly(text: str, instant: datetime) -> None:
    assert window(text)[0] == instant


@pytest.mark.parametrize("text", ["2025-06-02T13:00:00", "2025-06-02", "2025-06-02T13:00Z", "2025-06-02T13:00:00+3"])
def test_case_30_an_instant_without_offset_is_refused(text: str) -> None:
    assert refused_field(at=text) == "deliverAt"
    assert refused_field(at=iso(hours=1), until=text) == "deliverUntil"


@pytest.mark.parametrize(
    "text",
    [
        "20250101",
        "20260101",
        "20250101090000",
        "2025",
        "1735689600",
        "1735689600000",
        "0",
        "-1",
        "1.5",
        "true",
        "",
        " ",
    ],
)
def test_case_31_digits_are_no_instant(text: str) -> None:
    assert refused_field(at=text) == "deliverAt"


def test_case_31_absent_means_now() -> None:
    assert window(None)[0] == NOW


@pytest.mark.parametrize(
    "text", ["2025-02-30T00:00:00Z", "2025-06-02T25:00:00Z", "2025-06-02T13:00:00+99:00", "0001-01-01T00:00:00+14:00"]
)
def test_case_31_an_instant_that_does_not_exist_is_refused(text: str) -> None:
    assert refused_field(at=text) == "deliverAt"


def test_case_31_far_past_and_far_future_are_refused() -> None:
    assert refused_field(at=iso(minutes=-5, seconds=-1)) == "deliverAt"
    assert window(iso(minutes=-5))[0] == NOW
    assert refused_field(at=iso(days=365, seconds=1)) == "deliverAt"
    assert window(iso(days=365))[0] == NOW + timedelta(days=365)
    assert refused_field(until=iso(days=9_000)) == "deliverUntil"


@pytest.mark.parametrize(
    ("at", "until"),
    [
        (iso(hours=2), iso(hours=1)),
        (iso(hours=1), iso(hours=1)),
        (iso(hours=1), iso(hours=1, milliseconds=-1)),
        (None, iso(seconds=-1)),
        (None, iso()),
        (iso(minutes=-2), iso(minutes=-1)),
        (iso(minutes=-2), iso()),
    ],
)
def test_case_33_an_end_before_start_or_now_is_refused(at: str | None, until: str) -> None:
    assert refused_field(at, until) == "deliverUntil"


def test_case_33_a_start_just_past_sends_now() -> None:
    assert window(iso(seconds=-2), iso(hours=1)) == (NOW, NOW + timedelta(hours=1))


def test_case_33_an_end_without_start_is_fine() -> None:
    assert window(until=iso(minutes=1)) == (NOW, NOW + timedelta(minutes=1))


def test_case_33_equal_instants_in_two_offsets_are_equal() -> None:
    assert refused_field("2025-06-02T10:00:00-03:00", "2025-06-02T13:00:00Z") == "deliverUntil"


def test_windows_are_utc() -> None:
    start, end = window("2025-06-02T10:00:00-03:00")
    assert start.utcoffset() == end.utcoffset() == timedelta(0)
