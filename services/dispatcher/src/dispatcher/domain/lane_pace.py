"""The pacing state of one lane: when what may leave next, and what a send changes about it."""

from dataclasses import dataclass, replace
from datetime import datetime

from contracts.values import Category, Environment
from dispatcher.domain.fairness import RANKS, SLOTS, STREAMS, slot_index
from dispatcher.domain.jobs import PRIORITY
from dispatcher.domain.pacing import Slot, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePace:
    """As stored. `gap_at`, `hour_at`, `day_at` are TATs by slot key, `cold_at` is the TAT of first contacts.

    `passed`: for UTILITY and MARKETING (1 and 2) how many turns in a row went to others while they could have gone;
    first stands 1 if the last turn was such a debt paid, else 0.
    `cold_until`: no first contact before it. `floors`: by stream, the tag last taken. `virtual`: virtual time by rank.
    """

    gap_at: tuple[datetime, ...]
    hour_at: tuple[datetime, ...]
    day_at: tuple[datetime, ...]
    passed: tuple[int, ...] = (0, 0, 0)
    cold_at: datetime
    cold_until: datetime | None = None
    floors: tuple[float, ...] = (0.0,) * STREAMS
    virtual: tuple[float, ...] = (0.0,) * RANKS


def fresh_pace(now: datetime) -> LanePace:
    """A lane that never sent: everything is open, nothing is saved up."""
    instants = (now,) * SLOTS
    return LanePace(gap_at=instants, hour_at=instants, day_at=instants, cold_at=now)


def opens_at(pace: LanePace, terms: Terms, environment: Environment, category: Category, *, cold: bool) -> datetime:
    """When a message may leave as far as pacing goes; `cold`: it is a first contact. May be in the past."""
    slot = slot_index(environment, category)
    opening = slot_opens_at(terms.slots[slot], pace.gap_at[slot], pace.hour_at[slot], pace.day_at[slot])
    return max(opening, first_contact_opens_at(pace, terms, category) or opening) if cold else opening


def slot_opens_at(slot: Slot, gap_at: datetime, hour_at: datetime, day_at: datetime) -> datetime:
    """When gap and caps of one slot key let the next one pass."""
    opening = gap_at - slot.burst
    if slot.hour is not None:
        opening = max(opening, slot.hour.opens_at(hour_at))
    if slot.day is not None:
        opening = max(opening, slot.day.opens_at(day_at))
    return opening


def first_contact_opens_at(pace: "LanePace | Draft", terms: Terms, category: Category) -> datetime | None:
    """When the next first contact is allowed to this category; None if nothing limits them."""
    if terms.first_contacts is None:
        return pace.cold_until
    budget = terms.first_contacts[PRIORITY[category]].opens_at(pace.cold_at)
    return budget if pace.cold_until is None else max(budget, pace.cold_until)


def reopened(pace: LanePace, terms: Terms, now: datetime) -> LanePace:
    """A lane that was paused or closed begins at its pace, without what it could have sent meanwhile."""
    gap_at = tuple(max(at, now + slot.burst) for at, slot in zip(pace.gap_at, terms.slots, strict=True))
    return replace(pace, gap_at=gap_at)


class Draft:
    """A pace while a turn is decided: each send is spent on it at once, so that the next one is judged after it."""

    __slots__ = (
        "_openings",
        "_terms",
        "cold_at",
        "cold_until",
        "day_at",
        "floors",
        "gap_at",
        "hour_at",
        "passed",
        "virtual",
    )

    def __init__(self, pace: LanePace, terms: Terms) -> None:
        self._terms = terms
        self.gap_at, self.hour_at, self.day_at = list(pace.gap_at), list(pace.hour_at), list(pace.day_at)
        self.passed, self.floors, self.virtual = list(pace.passed), list(pace.floors), list(pace.virtual)
        self.cold_at, self.cold_until = pace.cold_at, pace.cold_until
        self._openings: dict[int, datetime] = {}

    def opens_at(self, slot: int) -> datetime:
        """When gap and caps of a slot key let the next one pass."""
        opening = self._openings.get(slot)
        if opening is None:
            opening = slot_opens_at(self._terms.slots[slot], self.gap_at[slot], self.hour_at[slot], self.day_at[slot])
            self._openings[slot] = opening
        return opening

    def first_contact_opens_at(self, category: Category) -> datetime | None:
        """When the next first contact is allowed to this category; None if nothing limits them."""
        return first_contact_opens_at(self, self._terms, category)

    def spend(self, slot: int, *, due_at: datetime, now: datetime, dice: float, first_contact: bool) -> None:
        """Pay for a send at `now` of a message that waited since `due_at`.

        Its own gap counts from when it could have gone, at most the catch-up ago; that is how a late claim costs no
        rate. Every other slot key pauses for the shorter of the two gaps.
        """
        terms = self._terms.slots
        ideal = min(now, max(self.opens_at(slot), due_at))
        own, gap = terms[slot], terms[slot].gap(dice)
        for other, its in enumerate(terms):
            if other == slot:
                self.gap_at[slot] = max(self.gap_at[slot], ideal, now - own.catch_up) + gap
            else:
                paused = max(ideal, now - min(own.catch_up, its.catch_up)) + min(gap, its.gap(dice))
                self.gap_at[other] = max(self.gap_at[other], paused)
        if own.hour is not None:
            self.hour_at[slot] = own.hour.spent(self.hour_at[slot], now)
        if own.day is not None:
            self.day_at[slot] = own.day.spent(self.day_at[slot], now)
        if first_contact and self._terms.first_contacts is not None:
            self.cold_at = self._terms.first_contacts[0].spent(self.cold_at, now)
        self._openings.clear()

    def done(self) -> LanePace:
        """The pace as it is to be stored."""
        return LanePace(
            gap_at=tuple(self.gap_at),
            hour_at=tuple(self.hour_at),
            day_at=tuple(self.day_at),
            passed=tuple(self.passed),
            cold_at=self.cold_at,
            cold_until=self.cold_until,
            floors=tuple(self.floors),
            virtual=tuple(self.virtual),
        )
