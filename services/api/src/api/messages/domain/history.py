"""How much of a number's history may be shown, by how long the number keeps personal data."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from api.messages.domain.instants import Period
from api.numbers.domain import Number, PiiMode

HISTORY_MAX = 100_000
"""Counting and paging stop here."""

RELAY_ONLY_NOTICE = "PII_RELAY_ONLY"

TOO_LARGE_NOTICE = "CONTENT_TOO_LARGE"
"""The page's files are too large to be shown together: ask for a smaller page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Pages count from 1."""

    page: int
    page_size: int

    @property
    def offset(self) -> int:
        """How many rows come before the page."""
        return (self.page - 1) * self.page_size


def shown(number: Number, asked: Period, *, now: datetime) -> Period | None:
    """The part of a period that may be shown; None where nothing is."""
    match number.pii_mode:
        case PiiMode.RELAY_ONLY:
            return None
        case PiiMode.STORE_X_DAYS:
            oldest = now - timedelta(days=number.pii_retention_days or 0)
            return Period(start=max(asked.start, oldest) if asked.start else oldest, end=asked.end)
        case PiiMode.STORE_INDEFINITE:
            return asked
