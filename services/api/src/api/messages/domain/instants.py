"""Bounds in time as a query names them: RFC 3339 with an offset, or a whole day in UTC."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.refusals import Refusal, RefusedError

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_INSTANT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)\d{0,3}([Zz]|[+\- ]\d{2}:\d{2})", re.ASCII
)
"""A space before the offset is a `+` that was not encoded in the query string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From `start` to `end`, both included; None is open."""

    start: datetime | None = None
    end: datetime | None = None


def period(start: str | None, end: str | None, *, start_field: str, end_field: str) -> Period:
    """Raises `RefusedError(INVALID_DATE_RANGE)` naming the field; a day as the end includes all of it."""
    bounds = Period(start=_bound(start, start_field), end=_bound(end, end_field, is_end=True))
    if bounds.start is not None and bounds.end is not None and bounds.start > bounds.end:
        raise RefusedError(Refusal.INVALID_DATE_RANGE, f"`{start_field}` is after `{end_field}`.", field=start_field)
    return bounds


def _bound(text: str | None, field: str, *, is_end: bool = False) -> datetime | None:
    if text is None:
        return None
    try:
        if _DAY.fullmatch(text):
            day = datetime.fromisoformat(text).replace(tzinfo=UTC)
            return day + timedelta(days=1, microseconds=-1) if is_end else day
        match = _INSTANT.fullmatch(text)
        if match is not None:
            offset = match[3].replace(" ", "+").upper().replace("Z", "+00:00")
            return datetime.fromisoformat(f"{match[1]}T{match[2]}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    sentence = f"`{field}` must be an RFC 3339 instant with an offset, or a day like 2030-01-31."
    raise RefusedError(Refusal.INVALID_DATE_RANGE, sentence, field=field)
