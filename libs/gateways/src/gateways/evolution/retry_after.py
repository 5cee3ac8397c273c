"""`Retry-After` as servers really send it: seconds, fractions, dates, negatives and nonsense."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[+-]?[0-9]{1,64}(?:\.[0-9]{1,12})?")
RETRY_AFTER_SECONDS_MAX = 86_400.0


def parse_retry_after(value: str | None, *, now: datetime) -> float | None:
    """Seconds to wait from `now`, within 0 and one day; None when absent or unreadable (use your own backoff)."""
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return _bounded(float(text))
    until = _date(text)
    return None if until is None else _bounded((until - now).total_seconds())


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), RETRY_AFTER_SECONDS_MAX)


def _date(text: str) -> datetime | None:
    if len(text) > 64:
        return None
    try:
        parsed = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
