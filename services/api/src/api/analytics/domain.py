"""The dashboard's figures: from counts per day and status to totals, shares and changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from api.refusals import Refusal, RefusedError
from contracts.status import Status


class Length(StrEnum):
    """How many days the dashboard shows."""

    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"

    @property
    def days(self) -> int:
        """The number in the name."""
        return int(self.value.removesuffix("d"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Local days, today last, and before them as many more to compare with. `midnights` has one instant too many."""

    days: Sequence[date]
    midnights: Sequence[datetime]

    @property
    def length(self) -> int:
        """How many days are shown."""
        return len(self.days) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """`day` is the place of the day in the window, from 0."""

    day: int
    status: Status
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """Percentages have two decimals; canceled messages count nowhere."""

    total_sent: int
    total_failed: int
    sent_percent_change: float
    failed_percent_change: float
    failure_rate: float
    daily: Sequence[tuple[date, int]]
    distribution: Mapping[str, int]


BUCKET = {
    Status.QUEUED: "queued",
    Status.DISPATCHED: "sent",
    Status.SENT: "sent",
    Status.DELIVERED: "delivered",
    Status.READ: "read",
    Status.FAILED: "failed",
}
"""A dispatched message has left; CANCELED is in no bucket."""

LEFT = ("sent", "delivered", "read")


def zone_of(name: str) -> ZoneInfo:
    """Raises `RefusedError(TIMEZONE_INVALID)` for what is no IANA zone."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise RefusedError(Refusal.TIMEZONE_INVALID, field="tz") from None


def window(length: Length, *, zone: ZoneInfo, now: datetime) -> Window:
    """A day begins at the zone's midnight, also where a clock change makes it 23 or 25 hours long."""
    today = now.astimezone(zone).date()
    first = today - timedelta(days=2 * length.days - 1)
    days = [first + timedelta(days=number) for number in range(2 * length.days + 1)]
    midnights = [datetime.combine(day, time(), tzinfo=zone).astimezone(UTC) for day in days]
    return Window(days=days[:-1], midnights=midnights)


def dashboard(window: Window, counts: Iterable[DayCount]) -> Dashboard:
    """The later half of the window, and its change against the earlier half."""
    before, now, daily = _empty(), _empty(), [0] * len(window.days)
    for count in counts:
        bucket = BUCKET.get(count.status)
        if bucket is None:
            continue
        daily[count.day] += count.count
        half = now if count.day >= window.length else before
        half[bucket] += count.count
    sent, failed = _sent(now), now["failed"]
    return Dashboard(
        total_sent=sent,
        total_failed=failed,
        sent_percent_change=_change(_sent(before), sent),
        failed_percent_change=_change(before["failed"], failed),
        failure_rate=_percent(failed, sent + failed),
        daily=list(zip(window.days, daily, strict=True))[window.length :],
        distribution=now,
    )


def _empty() -> dict[str, int]:
    return dict.fromkeys(("queued", *LEFT, "failed"), 0)


def _sent(buckets: Mapping[str, int]) -> int:
    return sum(buckets[bucket] for bucket in LEFT)


def _change(before: int, now: int) -> float:
    """0 where there is nothing to compare with."""
    return _percent(now - before, before)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
