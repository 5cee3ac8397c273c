"""When a failed delivery is tried again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

JITTER_SHARE = 0.2
RETRY_AFTER_MAX = timedelta(hours=24)
_RETRY_AFTER_LENGTH_MAX = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The pauses between attempts; each is lengthened by up to a fifth, never shortened."""

    pauses: tuple[timedelta, ...]

    def pause(self, attempt: int, *, dice: float) -> timedelta | None:
        """After failed attempt number `attempt` (from 1), None if it was the last; `dice` is in [0, 1)."""
        if attempt > len(self.pauses):
            return None
        return self.pauses[attempt - 1] * (1 + JITTER_SHARE * dice)


def retry_after(header: str | None, *, now: datetime) -> timedelta:
    """What a `Retry-After` asks for (seconds or an HTTP date, RFC 9110 §10.2.3), zero if unreadable, at most a day."""
    text = (header or "").strip()[:_RETRY_AFTER_LENGTH_MAX]
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=min(int(text), 10**6)), RETRY_AFTER_MAX)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return timedelta()
    wait = moment.replace(tzinfo=moment.tzinfo or UTC) - now
    return min(max(wait, timedelta()), RETRY_AFTER_MAX)
