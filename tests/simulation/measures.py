"""What a simulated lane is judged by: shares, waits, lateness, gaps and caps, each counted from what left and when."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

from contracts.values import Category, Environment
from dispatcher.domain.fairness import rank_of, slot_index
from dispatcher.domain.pacing import DAY, HOUR, terms_of

from .shares import Shares
from .store import Waiting
from .traffic import Profile


@dataclass(slots=True, kw_only=True)
class Journal:
    """What happened in one lane."""

    profile: Profile
    shares: Shares = field(default_factory=Shares)
    waits: dict[Category, list[float]] = field(default_factory=lambda: defaultdict(list))
    expired: Counter[Category] = field(default_factory=Counter)
    sent: dict[tuple[Environment, Category], list[datetime]] = field(default_factory=lambda: defaultdict(list))
    first_contacts: list[datetime] = field(default_factory=list)
    late: int = 0

    def came(self, waiting: Waiting) -> None:
        """A message is READY."""
        self.shares.came(_rank(waiting), waiting.message.tenant)

    def went(self, waiting: Waiting, at: datetime, *, first_contact: bool) -> None:
        """A message was sent."""
        message = waiting.message
        self.shares.went(_rank(waiting), message.tenant)
        self.waits[message.category].append((at - waiting.due_at).total_seconds())
        self.sent[message.environment, message.category].append(at)
        self.late += at >= waiting.deadline
        if first_contact:
            self.first_contacts.append(at)

    def expire(self, waiting: Waiting) -> None:
        """A message was not sent in time, and therefore not at all."""
        self.shares.expired(_rank(waiting), waiting.message.tenant)
        self.expired[waiting.message.category] += 1

    def gap_margin_min(self) -> float:
        """The seconds by which the shortest gap exceeded what a policy without bursts allows; below 0 is a breach."""
        terms = terms_of(self.profile.policy)
        margins = []
        for (environment, category), instants in self.sent.items():
            slot = terms.slots[slot_index(environment, category)]
            if not slot.burst and len(instants) > 1:
                shortest = min(later - earlier for earlier, later in pairwise(instants))
                margins.append((shortest - slot.gap_min + slot.catch_up).total_seconds())
        return min(margins, default=0.0)

    def cap_use_max(self) -> float:
        """The fullest window of any cap, as a share of that cap; above 1 is a breach."""
        uses = [0.0]
        for (environment, category), instants in self.sent.items():
            pace = self.profile.policy.pace(environment, category)
            uses += [fullest(instants, HOUR) / pace.per_hour] if pace.per_hour else []
            uses += [fullest(instants, DAY) / pace.per_day] if pace.per_day else []
        budget = self.profile.policy.first_contacts_per_day
        return max(*uses, fullest(self.first_contacts, DAY) / budget if budget else 0.0)


def _rank(waiting: Waiting) -> int:
    return rank_of(waiting.message.category, urgent=waiting.message.urgent)


def fullest(instants: Sequence[datetime], window: timedelta) -> int:
    """The most instants in any half-open window of this length."""
    most = first = 0
    for last, instant in enumerate(instants):
        while instant - instants[first] >= window:
            first += 1
        most = max(most, last - first + 1)
    return most


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the sorted values lies."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0
