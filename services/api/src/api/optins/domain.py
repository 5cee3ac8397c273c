"""When the consent of a recipient is asked for, and the names under which its absence is known."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from api.numbers.domain import Number
from contracts.values import Category, Environment


class OptInReason(StrEnum):
    """Why consent is not needed (the first four), or why there is none. The names are those of the older API."""

    OPTIN_DISABLED = "OPTIN_DISABLED"
    NON_DEFAULT_INSTANCE = "NON_DEFAULT_INSTANCE"
    NOT_LIVE = "NOT_LIVE"
    MISSING_PROJECT = "MISSING_PROJECT"
    INVALID_PHONE = "INVALID_PHONE"
    NO_OPTIN = "NO_OPTIN"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptIn:
    """A recipient's consent to a project; withdrawn if `revoked_at` is set."""

    opt_in_id: UUID
    first_opt_in_at: datetime
    last_seen_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptInStatus:
    """What a client is told. `required`: consent is asked for; `authorized`: a send passes this check."""

    enabled: bool
    required: bool
    authorized: bool
    reason: OptInReason | None
    opt_in: OptIn | None = None


def skip_reason(
    *, enabled: bool, number: Number | None, environment: Environment, project_id: UUID | None
) -> OptInReason | None:
    """Why consent is not asked for; None if it is: only LIVE, from the platform's number, for a project."""
    if not enabled:
        return OptInReason.OPTIN_DISABLED
    if number is None or not number.platform_default:
        return OptInReason.NON_DEFAULT_INSTANCE
    if environment is not Environment.LIVE:
        return OptInReason.NOT_LIVE
    if project_id is None:
        return OptInReason.MISSING_PROJECT
    return None


def is_asked_for(
    *, enabled: bool, number: Number, environment: Environment, project_id: UUID | None, category: Category
) -> bool:
    """Whether a send needs consent: one-time codes pass without."""
    skipped = skip_reason(enabled=enabled, number=number, environment=environment, project_id=project_id)
    return skipped is None and category is not Category.OTP


def status_of(skipped: OptInReason | None, *, opt_in: OptIn | None) -> OptInStatus:
    """The status of a valid phone number."""
    if skipped is not None:
        enabled = skipped is not OptInReason.OPTIN_DISABLED
        return OptInStatus(enabled=enabled, required=False, authorized=True, reason=skipped, opt_in=opt_in)
    authorized = opt_in is not None and opt_in.revoked_at is None
    reason = None if authorized else OptInReason.NO_OPTIN
    return OptInStatus(enabled=True, required=True, authorized=authorized, reason=reason, opt_in=opt_in)
