"""The numbers the dispatcher decides by."""

from dataclasses import dataclass
from datetime import timedelta

from contracts.values import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Full jitter over an exponential bound (AWS Architecture Blog, "Exponential Backoff and Jitter")."""

    base_seconds: float
    cap_seconds: float

    def delay(self, failures: int, dice: float) -> timedelta:
        """After `failures` failures, counted from 1; `dice` in [0, 1) is the jitter."""
        return timedelta(seconds=self.bound_seconds(failures) * dice)

    def bound_seconds(self, failures: int) -> float:
        """The longest delay after `failures` failures."""
        return min(self.cap_seconds, self.base_seconds * float(2 ** min(max(failures - 1, 0), 30)))


RETRY = Backoff(base_seconds=2, cap_seconds=120)
RETRY_OTP = Backoff(base_seconds=1, cap_seconds=15)
PROBE = Backoff(base_seconds=1, cap_seconds=60)
LOOKUP = Backoff(base_seconds=2, cap_seconds=60)

ECHO_SLACK = timedelta(seconds=5)
"""How much earlier than the attempt an echo may seem to be: two processes' clocks."""

LOOKUP_SLACK = timedelta(seconds=120)
"""How wrong the gateway's clock may be; ids that belong to other jobs are dropped, so a wide window is harmless."""

MEDIA_PATIENCE = timedelta(seconds=180)
"""A file may still be on its way up when our call has long ended: the gateway fetches and uploads it itself."""

RESEND_MARGIN = timedelta(seconds=10)
"""A resend by policy is decided this long before the delivery window closes."""


PLACES_GIVEN_UP_MAX = 3
"""How many unanswered calls of one lane may have let others pass at a time; the next one makes its lane wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How long things may take before something is concluded from silence.

    `ahead`: how long before it leaves the next message of a lane may be claimed, so that no commit delays it.
    """

    lease: timedelta = timedelta(seconds=60)
    absence_believed_after: timedelta = timedelta(seconds=60)
    resolve_within: timedelta = timedelta(seconds=900)
    patience: timedelta = timedelta(seconds=5)
    ahead: timedelta = timedelta(milliseconds=100)

    @property
    def recheck(self) -> timedelta:
        """Between two looks at one uncertain job."""
        return min(max(self.absence_believed_after / 6, timedelta(seconds=1)), timedelta(seconds=10))


def retry_backoff(category: Category) -> Backoff:
    """An OTP is worthless after minutes, so it is tried again sooner."""
    return RETRY_OTP if category is Category.OTP else RETRY


def resends_when_unresolved(category: Category) -> bool:
    """The policy at the deadline: a second code is better than none, a second advertisement is not."""
    return category is not Category.MARKETING
