"""Time as a callable, so that tests can choose it."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The wall clock, with its zone."""
    return datetime.now(UTC)
