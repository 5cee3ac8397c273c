"""What an outage of the whole dispatcher means for what fell due in it: to work if it is recent, else never."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

HEARTBEAT = timedelta(seconds=5)
OUTAGE_AFTER = timedelta(seconds=60)
"""A fleet that was silent for longer had nobody at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Nobody worked from `began_at` until `ended_at`."""

    began_at: datetime
    ended_at: datetime

    def stale_before(self, sla: timedelta) -> datetime:
        """What fell due within the outage and before this is not sent late; what came due after it is."""
        return max(self.ended_at - sla, self.began_at)


def outage_of(last_beat: datetime | None, *, now: datetime) -> Outage | None:
    """The outage that a starting replica ends; None if somebody was at work, or nobody ever was.

    It begins some time after the last heartbeat, for what came due in between, or was put back, had somebody at work.
    """
    if last_beat is None or now - last_beat <= OUTAGE_AFTER:
        return None
    return Outage(began_at=last_beat + 2 * HEARTBEAT, ended_at=now)


def is_stale(due_at: datetime, outages: Sequence[Outage], *, sla: timedelta) -> bool:
    """Whether a message fell due while nobody worked, too long before somebody did again."""
    return any(outage.began_at <= due_at < outage.stale_before(sla) for outage in outages)
