"""What a plan allows, which counters a send counts on, and who still fits under a limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from uuid import UUID
from zoneinfo import ZoneInfo

from api.refusals import Quota, Refusal, RefusedError
from contracts.values import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """A tenant's plan and running packages. A limit that is None is none; so are all limits without a plan."""

    plan_name: str | None = None
    live_monthly: int | None = None
    package_messages: int = 0
    live_daily: int | None = None
    test_daily: int | None = None
    test_anyone: bool = False
    media_allowed: bool = True
    requests_per_minute: int | None = None
    timezone: str = "UTC"
    default_country: str | None = None


class CounterName(StrEnum):
    """What is counted."""

    TEST_DAILY = "TEST_DAILY"
    LIVE_DAILY = "LIVE_DAILY"
    LIVE_MONTHLY = "LIVE_MONTHLY"

    @property
    def refusal(self) -> Refusal:
        """The answer when the limit is reached."""
        return Refusal[f"{self.value}_LIMIT_EXCEEDED"]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CounterKey:
    """One counter of one tenant in one period, which is named by its first day."""

    tenant_id: UUID
    name: CounterName
    period: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A send counts one on `key`, as long as no more than `limit` are counted; the period is over at `resets_at`."""

    key: CounterKey
    limit: int
    resets_at: datetime


def charges_of(
    allowance: Allowance, *, tenant_id: UUID, environment: Environment, to_profile: bool, now: datetime
) -> tuple[Charge, ...]:
    """What a send counts on; days and months begin at midnight in the tenant's time zone."""
    monthly = allowance.live_monthly
    wanted = {
        CounterName.TEST_DAILY: None if to_profile else allowance.test_daily,
        CounterName.LIVE_DAILY: allowance.live_daily,
        CounterName.LIVE_MONTHLY: None if monthly is None else monthly + allowance.package_messages,
    }
    limits = [(name, limit) for name, limit in wanted.items() if limit is not None and name.startswith(environment)]
    if not limits:
        return ()
    zone = ZoneInfo(allowance.timezone)
    today = now.astimezone(zone).date()
    return tuple(_charge(name, limit, tenant_id=tenant_id, today=today, zone=zone) for name, limit in limits)


def _charge(name: CounterName, limit: int, *, tenant_id: UUID, today: date, zone: ZoneInfo) -> Charge:
    period = today.replace(day=1) if name is CounterName.LIVE_MONTHLY else today
    length = timedelta(days=32) if name is CounterName.LIVE_MONTHLY else timedelta(days=1)
    following = period + length
    if name is CounterName.LIVE_MONTHLY:
        following = following.replace(day=1)
    resets_at = datetime.combine(following, time.min, tzinfo=zone).astimezone(UTC)
    return Charge(key=CounterKey(tenant_id=tenant_id, name=name, period=period), limit=limit, resets_at=resets_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """Per send, in order: the charge it failed on, or None; and what is to be added to each counter."""

    exceeded: Sequence[Charge | None]
    added: Mapping[CounterKey, int]


def grant(sends: Sequence[Sequence[Charge]], used: Mapping[CounterKey, int]) -> Granted:
    """Let the first ones through that fit under every limit of theirs; `used` is locked while this decides."""
    added: dict[CounterKey, int] = {}
    exceeded: list[Charge | None] = []
    for charges in sends:
        full = next((charge for charge in charges if used[charge.key] + added.get(charge.key, 0) >= charge.limit), None)
        exceeded.append(full)
        if full is None:
            for charge in charges:
                added[charge.key] = added.get(charge.key, 0) + 1
    return Granted(exceeded=exceeded, added=added)


def limit_exceeded(charge: Charge, *, now: datetime) -> RefusedError:
    """The 429: which limit, how large it is, and when it begins anew."""
    seconds = max(1, int((charge.resets_at - now).total_seconds()) + 1)
    name = charge.key.name
    resets_at = charge.resets_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    window = 86_400 if name is not CounterName.LIVE_MONTHLY else 86_400 * 30
    return RefusedError(
        name.refusal,
        f"{name.refusal.value[1]} It begins anew at {resets_at}.",
        extras={
            "limit": {"name": name.value, "max": charge.limit, "resetsAt": resets_at},
            "retryAfterSeconds": seconds,
        },
        quota=Quota(name=name.value.lower(), limit=charge.limit, window_seconds=window, reset_seconds=seconds),
    )
