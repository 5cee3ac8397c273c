"""Rules for a client's numbers: who reaches which, how settings and privacy change, how long a deleted one stays."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from api.access.domain import Caller, KeyScope
from api.numbers.domain import Number, PiiMode
from api.refusals import Refusal, RefusedError
from contracts.values import ConnectionState

RESTORABLE = timedelta(days=30)
"""How long a deleted number can be restored; public-api.md, numbers."""

RETENTION_DAYS_MAX = 3_650
_APART = re.compile(r"[\s().-]+")
_PHONE = re.compile(r"\+?([1-9][0-9]{9,14})")

Settings = Mapping[str, bool | str | None]

PLATFORM_DEFAULTS: Settings = {
    "historyImportEnabled": True,
    "webhookHistoricalMessages": False,
    "ignoreNewsletters": False,
    "markReadOnSend": True,
}
ADVANCED = ("alwaysOnline", "rejectCall", "msgRejectCall", "readMessages", "ignoreGroups", "ignoreStatus")
"""Null means that the gateway's own default counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNumber:
    """A number to be created. `link`: whether the calling key moves to it; None leaves that to the key's scope."""

    name: str
    phone: str
    link: bool | None = None
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a PATCH asks for; `settings` holds only what was given, null included."""

    pii_mode: PiiMode | None = None
    pii_retention_days: int | None = None
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """What to scan or type on the phone; state OPEN if there is nothing left to do."""

    state: ConnectionState | None = None
    qr_code: str | None = field(default=None, repr=False)
    code: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A WhatsApp group of a number."""

    group_id: str
    subject: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRef:
    """A key of a number, masked."""

    number_id: UUID
    name: str
    prefix: str
    last4: str | None


def phone_digits(text: str) -> str:
    """E.164 digits of a number as people write it; at least ten of them."""
    match = _PHONE.fullmatch(_APART.sub("", text))
    if match is None:
        raise RefusedError(
            Refusal.PHONE_INVALID, "Give the number with its country code, 10 to 15 digits.", field="number"
        )
    return match[1]


def reach(caller: Caller, wanted: UUID | None = None) -> UUID | None:
    """The only number a key reaches, or None for all of the tenant; raises NUMBER_NOT_FOUND for another one."""
    if caller.scope is not KeyScope.NUMBER:
        return None
    own = caller.number.number_id if caller.number else None
    if own is None or (wanted is not None and wanted != own):
        raise RefusedError(Refusal.NUMBER_NOT_FOUND)
    return own


def may_change(caller: Caller) -> None:
    """A project's key without a number only looks at numbers and creates them."""
    if caller.scope is KeyScope.DEFAULT:
        raise RefusedError(Refusal.NUMBER_SCOPE_NOT_ALLOWED, "Use a tenant key or the number's own key.")


def tenant_only(caller: Caller) -> None:
    """Raises NUMBER_SCOPE_NOT_ALLOWED for any other key."""
    if caller.scope is not KeyScope.TENANT:
        raise RefusedError(Refusal.NUMBER_SCOPE_NOT_ALLOWED)


def links(caller: Caller, wanted: bool | None) -> bool:
    """Whether the calling key moves to the number it creates: a number's key unless told not to, a tenant's never."""
    if caller.scope is KeyScope.TENANT:
        return False
    return caller.scope is KeyScope.NUMBER if wanted is None else wanted


def changed(number: Number, change: Change) -> Number:
    """The number with a change applied; raises for one that does not change anything or lacks the days."""
    if change.pii_mode is None and change.pii_retention_days is None and not change.settings:
        raise RefusedError(Refusal.EMPTY_PATCH)
    mode = change.pii_mode or number.pii_mode
    days = change.pii_retention_days
    if mode is PiiMode.STORE_X_DAYS and days is None:
        days = number.pii_retention_days if change.pii_mode is None else None
        if days is None:
            raise RefusedError(Refusal.PII_RETENTION_INVALID, field="piiRetentionDays")
    return replace(
        number,
        pii_mode=mode,
        pii_retention_days=days if mode is PiiMode.STORE_X_DAYS else None,
        settings=merged(number.settings, change.settings),
    )


def merged(stored: Settings, given: Settings) -> Settings:
    """Stored settings with a patch; a null advanced setting is forgotten."""
    kept = {**stored, **given}
    return {name: value for name, value in kept.items() if value is not None}


def effective(settings: Settings) -> dict[str, bool | str | None]:
    """Every setting with its default."""
    return {**PLATFORM_DEFAULTS, **dict.fromkeys(ADVANCED), **settings}


def restorable_until(number: Number) -> datetime | None:
    """Until when a deleted number can be restored; None for one that is not deleted."""
    return number.deleted_at + RESTORABLE if number.deleted_at else None


def check_free(existing: Number | None) -> None:
    """A phone number is created once per tenant; a deleted one is restored or purged first."""
    if existing is None:
        return
    deleted = existing.deleted_at is not None
    raise RefusedError(Refusal.NUMBER_SOFT_DELETED if deleted else Refusal.NUMBER_ALREADY_EXISTS, field="number")


def check_restorable(number: Number | None, now: datetime) -> Number:
    """Raises NUMBER_NOT_FOUND past the window, and NUMBER_ALREADY_ACTIVE."""
    if number is None:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND)
    until = restorable_until(number)
    if until is None:
        raise RefusedError(Refusal.NUMBER_ALREADY_ACTIVE)
    if until <= now:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND)
    return number
