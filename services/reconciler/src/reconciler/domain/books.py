"""The hours to which messages are booked: a message belongs to the hour in which its id was made."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

HOUR: Final = timedelta(hours=1)


def first_id_of(moment: datetime) -> UUID:
    """Not above any id made at or after a moment: ids begin with 48 bits of Unix milliseconds (UUIDv7)."""
    return UUID(int=round(moment.timestamp() * 1_000) << 80)


def hour_of(moment: datetime) -> datetime:
    """The beginning of its hour."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def hours(since: datetime, until: datetime) -> Iterator[datetime]:
    """The hours that begin from `since` on and before `until`."""
    hour = hour_of(since)
    while hour < until:
        yield hour
        hour += HOUR
