"""How many second tries a gateway is owed: what it answers well pays for them, so that its outage is not multiplied."""

from dataclasses import dataclass, replace

TOKENS_AT_FIRST = 10.0
TOKENS_MAX = 50.0
TOKENS_PER_SUCCESS = 0.1
"""At nothing but failures the load then grows by a tenth instead of as often as everything is tried again (M. Brooker,
"Fixing retries with token buckets and circuit breakers", 2022)."""

TOKENS_PER_SECOND = 0.5
"""A gateway that came back is noticed even if nothing but second tries is left for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBudget:
    """`tokens` as they were at `at`, in seconds of any steady clock."""

    tokens: float = TOKENS_AT_FIRST
    at: float

    def refilled(self, now: float) -> "RetryBudget":
        """What has trickled in since."""
        passed = max(now - self.at, 0.0)
        return RetryBudget(tokens=min(self.tokens + passed * TOKENS_PER_SECOND, TOKENS_MAX), at=max(now, self.at))

    def spent(self, now: float) -> "RetryBudget | None":
        """After a second try; None if there is no token for it."""
        full = self.refilled(now)
        return None if full.tokens < 1 else replace(full, tokens=full.tokens - 1)

    def earned(self, now: float, *, was_retry: bool) -> "RetryBudget":
        """After the gateway answered well; a second try that did is given back, for it was no idle load."""
        full = self.refilled(now)
        return replace(full, tokens=min(full.tokens + TOKENS_PER_SUCCESS + was_retry, TOKENS_MAX))
