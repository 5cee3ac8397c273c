"""Messages as a platform sees them: codes and notices by the hour, campaigns all at once, few big tenants."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from contracts.values import Category, Environment, Pace, PacingPolicy

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
DAY_SECONDS = 86_400
CAMPAIGN_HOURS = (10, 14, 18)
TEST_SHARE = 0.02
URGENT_SHARE = 0.05
NEW_RECIPIENT_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Message:
    """What one tenant wants sent, and when."""

    at: datetime
    tenant: int
    weight: int
    category: Category
    urgent: bool
    environment: Environment
    recipient: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A kind of number: how fast it may go, and what is asked of it."""

    name: str
    policy: PacingPolicy
    call_seconds: float
    mix: dict[Category, float]
    campaign: int


def _pace(low: int, high: int, **caps: int) -> Pace:
    return Pace(min_ms=low, max_ms=high, **caps)


SHARED = Profile(
    name="shared",
    policy=PacingPolicy(),
    call_seconds=0.6,
    mix={Category.OTP: 0.6, Category.UTILITY: 0.35, Category.MARKETING: 0.05},
    campaign=600,
)
"""A number of the platform with its default pace."""

OWN = Profile(
    name="own",
    policy=PacingPolicy(
        otp=_pace(200, 600, burst=3),
        utility=_pace(1_000, 2_000, per_hour=1_500, per_day=20_000),
        marketing=_pace(4_000, 6_000, per_hour=500, per_day=6_000),
        first_contacts_per_day=8_000,
        max_in_flight=4,
    ),
    call_seconds=0.9,
    mix={Category.OTP: 0.3, Category.UTILITY: 0.4, Category.MARKETING: 0.3},
    campaign=1_500,
)
"""A customer's own number: faster, several at a time, with caps and a budget of first contacts."""

BUSY = Profile(
    name="busy",
    policy=PacingPolicy(otp=_pace(50, 50), utility=_pace(500, 700), marketing=_pace(2_000, 3_000), max_in_flight=8),
    call_seconds=0.5,
    mix={Category.OTP: 0.2, Category.UTILITY: 0.3, Category.MARKETING: 0.5},
    campaign=500,
)
"""A number with long backlogs, where fairness shows."""

PROFILES = (SHARED, OWN, BUSY)


def weight_of(tenant: int) -> int:
    """Every fifth tenant pays for three times the share."""
    return 3 if tenant % 5 == 0 else 1


def traffic(profile: Profile, *, messages: int, tenants: range, days: float, random: Random) -> list[Message]:
    """About so many messages over so many days, in the order of their time."""
    wanted = {category: round(messages * share) for category, share in profile.mix.items()}
    campaigns = _campaigns(profile, wanted[Category.MARKETING], tenants, days, random)
    singles = _singles({**wanted, Category.MARKETING: 0}, tenants, days, random)
    return sorted([*campaigns, *singles], key=lambda message: message.at)


def _singles(wanted: dict[Category, int], tenants: range, days: float, random: Random) -> Iterator[Message]:
    for category, count in wanted.items():
        for _ in range(count):
            yield _message(_moment(days, random), _tenant(tenants, random), category, random)


def _campaigns(profile: Profile, count: int, tenants: range, days: float, random: Random) -> Iterator[Message]:
    while count > 0:
        size = min(count, max(1, round(random.expovariate(1 / profile.campaign))))
        at, tenant = _hour_of_campaigns(days, random), _tenant(tenants, random)
        yield from (_message(at, tenant, Category.MARKETING, random) for _ in range(size))
        count -= size


def _message(at: datetime, tenant: int, category: Category, random: Random) -> Message:
    return Message(
        at=at,
        tenant=tenant,
        weight=weight_of(tenant),
        category=category,
        urgent=random.random() < URGENT_SHARE,
        environment=Environment.TEST if random.random() < TEST_SHARE else Environment.LIVE,
        recipient=random.getrandbits(48) if random.random() < NEW_RECIPIENT_SHARE else random.randrange(2_000),
    )


def _moment(days: float, random: Random) -> datetime:
    """Quiet nights: the density goes as 1 − cos over each day."""
    while True:
        seconds = random.random() * days * DAY_SECONDS
        if random.random() * 2 < 1 - math.cos(2 * math.pi * (seconds % DAY_SECONDS) / DAY_SECONDS):
            return BEGIN + timedelta(seconds=seconds)


def _hour_of_campaigns(days: float, random: Random) -> datetime:
    """Those who plan choose the same hours, and then wait for each other."""
    return BEGIN + timedelta(days=random.randrange(max(1, int(days))), hours=random.choice(CAMPAIGN_HOURS))


def _tenant(tenants: range, random: Random) -> int:
    """The small numbers send most."""
    return tenants[int(len(tenants) * random.random() ** 2)]
