"""Where the time comes from: the database's clock, unless a test holds it still."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime] | None
"""None in production: statements then use the database's clock."""


def given(clock: Clock) -> datetime | None:
    """The instant to pass to statements."""
    return clock() if clock else None
