"""How evenly the tenants of a lane are served, counted from what was sent while they waited."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from .traffic import weight_of

WINDOW = 200
"""How many sends of one rank a share is taken over."""


@dataclass(slots=True, kw_only=True)
class Shares:
    """How evenly tenants that wait throughout a window are served, per weight.

    Start-time fair queueing promises that two of them differ by no more than one message of each. A tenant some of
    whose messages expired is owed turns and gets more for a while; it is compared again when it has stopped waiting.
    """

    waiting: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    served: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    absent: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    owed: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    sends: Counter[int] = field(default_factory=Counter)
    windows: int = 0
    deviation_max: float = 0.0

    def came(self, rank: int, tenant: int) -> None:
        """A message began to wait; who did not wait before is not compared in this window."""
        if not self.waiting[rank][tenant]:
            self.absent[rank].add(tenant)
        self.waiting[rank][tenant] += 1

    def went(self, rank: int, tenant: int) -> None:
        """A message was sent."""
        self.served[rank][tenant] += 1
        self._left(rank, tenant)
        self.sends[rank] += 1
        if self.sends[rank] % WINDOW == 0:
            self._compare(rank)

    def expired(self, rank: int, tenant: int) -> None:
        """A message is gone without having been sent; its tenant is not compared while it still waits."""
        self.owed[rank].add(tenant)
        self._left(rank, tenant)

    def _left(self, rank: int, tenant: int) -> None:
        self.waiting[rank][tenant] -= 1
        if not self.waiting[rank][tenant]:
            del self.waiting[rank][tenant]
            self.owed[rank].discard(tenant)
            self.absent[rank].add(tenant)

    def _compare(self, rank: int) -> None:
        compared = self.waiting[rank].keys() - self.absent[rank] - self.owed[rank]
        shares = [self.served[rank][tenant] / weight_of(tenant) for tenant in compared]
        if len(shares) > 1:
            self.windows += 1
            self.deviation_max = max(self.deviation_max, max(shares) - min(shares))
        self.served[rank].clear()
        self.absent[rank].clear()
