"""Statements on plans, packages and counters."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Date, Integer, Text, Uuid, bindparam, func, select, text

from api.accounts.tables import TENANTS
from api.limits.domain import Allowance, CounterKey, CounterName
from api.limits.tables import PACKAGES, PLANS
from chassis.database import Transaction

_TYPES = {"tenants": ARRAY(Uuid), "counters": ARRAY(Text), "periods": ARRAY(Date), "amounts": ARRAY(Integer)}


def allowance_columns() -> list[ColumnElement[Any]]:
    """What to select from tenants, outer joined with plans, for `allowance_of`."""
    packages = (
        select(func.coalesce(func.sum(PACKAGES.c.messages), 0))
        .where(
            PACKAGES.c.tenant_id == TENANTS.c.id, PACKAGES.c.starts_at <= func.now(), PACKAGES.c.ends_at > func.now()
        )
        .scalar_subquery()
    )
    return [
        PLANS.c.name.label("plan_name"),
        PLANS.c.live_monthly,
        packages.label("package_messages"),
        PLANS.c.live_daily,
        PLANS.c.test_daily,
        PLANS.c.test_anyone,
        PLANS.c.media_allowed,
        PLANS.c.requests_per_minute,
        TENANTS.c.timezone,
        TENANTS.c.default_country,
    ]


def allowance_of(row: Any) -> Allowance:
    """A row with `allowance_columns` as a value."""
    return Allowance(
        plan_name=row["plan_name"],
        live_monthly=row["live_monthly"],
        package_messages=int(row["package_messages"]),
        live_daily=row["live_daily"],
        test_daily=row["test_daily"],
        test_anyone=bool(row["test_anyone"]),
        media_allowed=row["media_allowed"] is not False,
        requests_per_minute=row["requests_per_minute"],
        timezone=row["timezone"],
        default_country=row["default_country"],
    )


LOCK = text("""
INSERT INTO api.usage AS u (tenant_id, counter, period, used)
SELECT tenant_id, counter, period, 0 FROM unnest(:tenants, :counters, :periods) AS w(tenant_id, counter, period)
ORDER BY tenant_id, counter, period
ON CONFLICT (tenant_id, counter, period) DO UPDATE SET used = u.used
RETURNING tenant_id, counter, period, used
""").bindparams(*(bindparam(name, type_=_TYPES[name]) for name in ("tenants", "counters", "periods")))


async def lock_counters(tx: Transaction, keys: Iterable[CounterKey]) -> dict[CounterKey, int]:
    """How much is used of each; nobody else counts on them until this transaction ends."""
    rows = (await tx.execute(LOCK, _columns(sorted(keys)))).all()
    return {
        CounterKey(tenant_id=row.tenant_id, name=CounterName(row.counter), period=row.period): row.used for row in rows
    }


ADD = text("""
WITH wanted AS (
    SELECT * FROM unnest(:tenants, :counters, :periods, :amounts) AS w(tenant_id, counter, period, amount)
), locked AS (
    SELECT u.tenant_id, u.counter, u.period, w.amount
    FROM api.usage u JOIN wanted w USING (tenant_id, counter, period)
    ORDER BY u.tenant_id, u.counter, u.period FOR UPDATE OF u
)
UPDATE api.usage u SET used = greatest(u.used + l.amount, 0) FROM locked l
WHERE u.tenant_id = l.tenant_id AND u.counter = l.counter AND u.period = l.period
""").bindparams(*(bindparam(name, type_=_TYPES[name]) for name in _TYPES))


async def add_usage(tx: Transaction, amounts: Mapping[CounterKey, int]) -> None:
    """Count these; a negative amount gives back, never below zero."""
    keys = sorted(key for key, amount in amounts.items() if amount)
    if keys:
        await tx.execute(ADD, {**_columns(keys), "amounts": [amounts[key] for key in keys]})


def _columns(keys: Iterable[CounterKey]) -> dict[str, list[Any]]:
    known = list(keys)
    return {
        "tenants": [key.tenant_id for key in known],
        "counters": [key.name.value for key in known],
        "periods": [key.period for key in known],
    }


async def forget_usage(tx: Transaction, *, limit: int) -> int:
    """Drop counters of periods that ended more than 13 months ago; how many."""
    statement = text("""
        DELETE FROM api.usage WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM api.usage WHERE period < current_date - 400 LIMIT :limit FOR UPDATE SKIP LOCKED))
    """)
    return (await tx.execute(statement, {"limit": limit})).rowcount
