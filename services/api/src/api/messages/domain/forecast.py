"""When a message is expected to leave, told as it is accepted: an estimate from what its lane said a moment ago."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from contracts.dispatch_questions import LaneDescribed, PaceLimit, SlotPace
from contracts.values import Category, ConnectionState, Environment

BELIEVED_FOR: Final = timedelta(seconds=60)
"""How old what a lane said may be before nobody can tell any more."""

_PLACE: Final[Mapping[Category, int]] = {Category.OTP: 0, Category.UTILITY: 1, Category.MARKETING: 2}
"""The order in which categories go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Departing:
    """What decides about a message's turn; it never leaves before `deliver_by`."""

    tenant_id: UUID
    environment: Environment
    category: Category
    urgent: bool
    deliver_by: datetime


class Forecast:
    """A lane as it was described at `taken_at`, and what was accepted for it since; that is ahead of what comes next.

    First contacts and tenants' weights are not known here: they are as good as others. A send costs it microseconds.
    """

    __slots__ = (
        "_admitted_unnamed",
        "_named",
        "_paces",
        "_rest",
        "_share",
        "_unnamed",
        "_unnamed_most",
        "_urgent",
        "sends",
        "taken_at",
    )

    def __init__(self, described: LaneDescribed, *, taken_at: datetime) -> None:
        lane = described.lane
        self.taken_at = taken_at
        self.sends = lane is not None and lane.state is ConnectionState.OPEN and not lane.paused
        self._paces = {(pace.environment, pace.category): pace for pace in described.paces}
        self._share = described.min_share
        depths = {depth.category: depth for depth in described.depths}
        known = [depths.get(category) for category in _PLACE]
        self._urgent = [depth.urgent if depth else 0 for depth in known]
        self._rest = [depth.ready - depth.urgent if depth else 0 for depth in known]
        self._named = {one.tenant_id: one.ready for one in described.tenants}
        self._unnamed = max(0, sum(self._urgent) + sum(self._rest) - sum(self._named.values()))
        self._unnamed_most = min(self._unnamed, *self._named.values()) if self._named else 0
        self._admitted_unnamed: Counter[UUID] = Counter()

    def expected_at(self, message: Departing, *, now: datetime) -> datetime | None:
        """None where nobody can tell: a lane unknown, closed or paused, or not heard of for a minute."""
        pace = self._paces.get((message.environment, message.category))
        if pace is None or not self.sends or now - self.taken_at > BELIEVED_FOR:
            return None
        own = self._ahead_in_category(message)
        pauses = own * pace.gap.interval_ms + self._pauses_for_higher(message, pace, own)
        expected = max(now, message.deliver_by, self._opens_at(pace.gap, pauses))
        for cap in pace.caps:
            expected = max(expected, self._opens_at(cap, own * cap.interval_ms))
        return expected

    def admit(self, message: Departing, *, now: datetime) -> None:
        """From now on `message` is ahead of others, unless its time is yet to come."""
        if message.deliver_by > now:
            return
        (self._urgent if message.urgent else self._rest)[_PLACE[message.category]] += 1
        if message.tenant_id in self._named:
            self._named[message.tenant_id] += 1
        else:
            self._admitted_unnamed[message.tenant_id] += 1
            self._unnamed += 1

    def _opens_at(self, limit: PaceLimit, spent_ms: float) -> datetime:
        begin = max(limit.arrival_at, self.taken_at) if spent_ms else limit.arrival_at
        return begin + timedelta(milliseconds=spent_ms - limit.ahead_ms)

    def _ahead_in_category(self, message: Departing) -> int:
        """Urgent messages pass the others of their category; between tenants turns alternate."""
        place = _PLACE[message.category]
        urgent, rest = self._urgent[place], self._rest[place]
        if message.urgent:
            return min(urgent, self._ahead_by_turns(message.tenant_id)) if urgent else 0
        return urgent + min(rest, self._ahead_by_turns(message.tenant_id)) if rest else urgent

    def _ahead_by_turns(self, tenant_id: UUID) -> int:
        """Before a tenant's next message go its own, and of each other tenant at most as many.

        Only the deepest tenants are known by name: what nobody is named for is ahead, and who is not named may have as
        many of it as the last of those who are.
        """
        own = self._named.get(tenant_id)
        if own is None:
            own = min(self._unnamed, self._unnamed_most + self._admitted_unnamed[tenant_id])
        return self._unnamed + sum([min(waiting, own) for waiting in self._named.values()])

    def _pauses_for_higher(self, message: Departing, pace: SlotPace, own: int) -> float:
        """Each send of a higher category pauses this one for the shorter of two gaps, ms; so many at most per turn."""
        left = None if self._share is None else (own + 1) * (self._share - 1)
        total = 0.0
        for category, place in _PLACE.items():
            if category is message.category:
                break
            ahead = self._urgent[place] + self._rest[place]
            other = self._paces.get((message.environment, category)) if ahead else None
            if other is None:
                continue
            count = ahead if left is None else min(ahead, left)
            left = None if left is None else left - count
            total += count * min(pace.gap.interval_ms, other.gap.interval_ms)
        return total
