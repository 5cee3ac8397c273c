"""How fast a lane goes by its policy and by what is spent of it, for whoever asks how fast a number is."""

from datetime import datetime, timedelta

from contracts.dispatch_questions import PaceLimit, SlotPace
from contracts.values import Category, Environment
from dispatcher.domain.fairness import slot_index
from dispatcher.domain.lane_pace import LanePace
from dispatcher.domain.pacing import HOUR, Cap, Terms

_MILLISECOND = timedelta(milliseconds=1)


def allowed_per_hour(terms: Terms, environment: Environment, category: Category) -> int | None:
    """By the mean gap and the hourly cap, as if nothing else was sent; None where neither limits it."""
    slot = terms.slots[slot_index(environment, category)]
    by_gap = int(HOUR / slot.gap_mean) if slot.gap_mean > timedelta(0) else None
    by_cap = int(HOUR / slot.hour.interval) if slot.hour is not None else None
    limits = [limit for limit in (by_gap, by_cap) if limit is not None]
    return min(limits, default=None)


def slot_paces(pace: LanePace, terms: Terms) -> tuple[SlotPace, ...]:
    """What every slot key may do from now on, for forecasts that are made elsewhere."""
    return tuple(_slot_pace(pace, terms, environment, category) for environment in Environment for category in Category)


def _slot_pace(pace: LanePace, terms: Terms, environment: Environment, category: Category) -> SlotPace:
    index = slot_index(environment, category)
    slot = terms.slots[index]
    caps = ((slot.hour, pace.hour_at[index]), (slot.day, pace.day_at[index]))
    return SlotPace(
        environment=environment,
        category=category,
        gap=_limit(Cap(interval=slot.gap_mean, tolerance=slot.burst), pace.gap_at[index]),
        caps=tuple(_limit(cap, tat) for cap, tat in caps if cap is not None),
    )


def _limit(cap: Cap, tat: datetime) -> PaceLimit:
    return PaceLimit(arrival_at=tat, interval_ms=cap.interval / _MILLISECOND, ahead_ms=cap.tolerance / _MILLISECOND)
