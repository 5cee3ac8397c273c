"""What a pacing policy means in instants: gaps, bursts and caps as GCRA, each one remembered instant.

The generic cell rate algorithm (ITU-T I.371) keeps a theoretical arrival time (TAT) and admits what comes no earlier
than TAT − tolerance. A cap of C in any window of length W is kept with k = C // 10 as an interval of W / (C − k) and a
tolerance of k intervals: of any C + 1 sends the first and the last are then at least W apart, wherever a window begins.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from contracts.values import Category, Environment, Pace, PacingPolicy

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CATCH_UP_MAX = timedelta(milliseconds=250)
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Cap:
    """At most so many in any window: an interval between sends, and by how much they may run ahead of it."""

    interval: timedelta
    tolerance: timedelta

    def opens_at(self, tat: datetime) -> datetime:
        """When the next one fits."""
        return tat - self.tolerance

    def spent(self, tat: datetime, now: datetime) -> datetime:
        """The TAT after one at `now`."""
        return max(tat, now) + self.interval


@dataclass(frozen=True, slots=True)
class Slot:
    """The terms of one environment and category; a gap is at least `gap_min` and at most `gap_spread` more."""

    gap_min: timedelta
    gap_spread: timedelta
    burst: timedelta
    catch_up: timedelta
    hour: Cap | None
    day: Cap | None

    def gap(self, dice: float) -> timedelta:
        """One gap; `dice` in [0, 1)."""
        return self.gap_min + self.gap_spread * dice

    @property
    def gap_mean(self) -> timedelta:
        """The gap that is to be expected."""
        return self.gap_min + self.gap_spread / 2


@dataclass(frozen=True, slots=True)
class Terms:
    """A pacing policy ready to be applied; `slots` by `fairness.slot_index`, `first_contacts` by priority of category.

    First contacts have one budget together; half of what may run ahead is left to OTPs, so that a campaign to strangers
    does not make a stranger wait for the code he asked for. `at_once`: how many messages of one slot key may go in the
    same instant; None is any number.
    """

    slots: tuple[Slot, ...]
    first_contacts: tuple[Cap, Cap, Cap] | None
    share: int | None
    at_once: int | None


@lru_cache(maxsize=4_096)
def terms_of(policy: PacingPolicy) -> Terms:
    """The terms of a policy."""
    paces = [policy.pace(environment, category) for environment in _ENVIRONMENTS for category in Category]
    return Terms(
        slots=tuple(_slot(pace) for pace in paces),
        first_contacts=_first_contacts(policy.first_contacts_per_day),
        share=policy.min_share,
        at_once=max(pace.burst for pace in paces) if all(pace.min_ms and pace.max_ms for pace in paces) else None,
    )


_ENVIRONMENTS = (Environment.TEST, Environment.LIVE)


def _slot(pace: Pace) -> Slot:
    shortest = timedelta(milliseconds=min(pace.min_ms, pace.max_ms))
    return Slot(
        gap_min=shortest,
        gap_spread=timedelta(milliseconds=abs(pace.max_ms - pace.min_ms)),
        burst=shortest * (pace.burst - 1),
        catch_up=min(shortest / 2, CATCH_UP_MAX),
        hour=_cap(pace.per_hour, HOUR),
        day=_cap(pace.per_day, DAY),
    )


def _first_contacts(a_day: int | None) -> tuple[Cap, Cap, Cap] | None:
    otp = _cap(a_day, DAY)
    if otp is None:
        return None
    lower = Cap(interval=otp.interval, tolerance=otp.interval * (otp.tolerance // otp.interval // 2))
    return otp, lower, lower


def _cap(sends: int | None, window: timedelta) -> Cap | None:
    if sends is None:
        return None
    ahead = sends // 10
    interval = -(-window // (sends - ahead) // _INSTANT) * _INSTANT
    return Cap(interval=interval, tolerance=interval * ahead)
