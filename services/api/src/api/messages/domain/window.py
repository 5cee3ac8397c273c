"""When a message may leave: from `deliverAt` until `deliverUntil`, RFC 3339 with an offset."""

import re
from datetime import UTC, datetime, timedelta

from api.refusals import Refusal, RefusedError
from contracts.values import DELIVERY_WINDOW, Category

_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})")
LATE_TOLERANCE = timedelta(minutes=5)
"""A `deliverAt` this little in the past means now."""
HORIZON = timedelta(days=365)


def delivery_window(
    *, deliver_at: str | None, deliver_until: str | None, category: Category, now: datetime
) -> tuple[datetime, datetime]:
    """(deliver_by, deliver_until), both aware; raises `RefusedError(SCHEDULE_INVALID)` naming the field."""
    start = instant_of(deliver_at, "deliverAt") or now
    if start < now - LATE_TOLERANCE:
        raise _refused("`deliverAt` lies in the past.", "deliverAt")
    start = max(start, now)
    end = instant_of(deliver_until, "deliverUntil") or start + DELIVERY_WINDOW[category]
    if start > now + HORIZON:
        raise _refused("`deliverAt` lies more than 365 days ahead.", "deliverAt")
    if end <= start:
        raise _refused("`deliverUntil` must be later than both now and `deliverAt`.", "deliverUntil")
    if end > now + 2 * HORIZON:
        raise _refused("`deliverUntil` lies too far ahead.", "deliverUntil")
    return start, end


def instant_of(text: str | None, field: str) -> datetime | None:
    """An RFC 3339 instant in UTC; None if absent; raises `RefusedError(SCHEDULE_INVALID)` naming the field."""
    if text is None:
        return None
    if not _RFC3339.fullmatch(text):
        raise _refused(f"`{field}` must be an RFC 3339 instant with an offset, like 2030-01-31T09:00:00-03:00.", field)
    try:
        return datetime.fromisoformat(_microseconds(text.upper())).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _refused(f"`{field}` is not a real instant.", field) from None


def _microseconds(text: str) -> str:
    return re.sub(r"(\.\d{6})\d+", r"\1", text)


def _refused(sentence: str, field: str) -> RefusedError:
    return RefusedError(Refusal.SCHEDULE_INVALID, sentence, field=field)
