"""What operators administer, as values."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

SHOWN_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A customer of the platform; without a plan it has no limits."""

    tenant_id: UUID
    name: str
    weight: int
    plan_id: UUID | None
    timezone: str
    default_country: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a tenant may send; a limit of None is no limit."""

    plan_id: UUID
    name: str
    live_monthly: int | None
    live_daily: int | None
    test_daily: int | None
    test_anyone: bool
    media_allowed: bool
    requests_per_minute: int | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """Messages a tenant may send on top of its plan while the package runs."""

    package_id: UUID
    tenant_id: UUID
    messages: int
    starts_at: datetime
    ends_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A phone number that a tenant's TEST keys may send to; `phone` is E.164 digits."""

    profile_id: UUID
    tenant_id: UUID
    name: str
    phone: str = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OptIn:
    """A recipient's consent to a project; `phone` is E.164 digits, None once the recipient was erased."""

    opt_in_id: UUID
    project_id: UUID
    tenant_id: UUID
    phone: str | None = field(repr=False)
    first_opt_in_at: datetime
    last_seen_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRow:
    """A stored row with a phone that is still sealed, the way the store hands it on; None once it was erased."""

    fields: dict[str, Any]
    sealed_phone: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedKey:
    """An API key as operators see it; nobody can see the key itself again."""

    key_id: UUID
    name: str
    tenant_id: UUID
    project_id: UUID
    environment: str
    scope: str
    number_id: UUID | None
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of a list is wanted: what comes `after` an id, `limit` of it at most."""

    after: UUID | None
    limit: int


def masked(phone: str) -> str:
    """A phone of which only the last digits can be read."""
    return "•" * (len(phone) - SHOWN_DIGITS) + phone[-SHOWN_DIGITS:]
