"""API keys as values: their format, and what their holder may do."""

import hashlib
import hmac
import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from api.limits.domain import Allowance
from api.numbers.domain import Number
from api.refusals import Quota, Refusal, RefusedError
from contracts.values import ConnectionState, Environment

_FORMAT = re.compile(r"ps_(test|live)_([0-9A-Za-z]{12})_([0-9A-Za-z_-]{43})")


class KeyScope(StrEnum):
    """What a key reaches: one number, the platform's default number, or the tenant as a whole (which cannot send)."""

    NUMBER = "number"
    DEFAULT = "default"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyParts:
    """A raw key taken apart; the secret never shows in a repr."""

    environment: Environment
    public_id: str
    secret: str = field(repr=False)

    @property
    def secret_hash(self) -> bytes:
        """What is stored: 256 random bits need no slow hash."""
        return hashlib.sha256(self.secret.encode()).digest()

    def raw(self) -> str:
        """The key as its holder sees it, once."""
        return f"{prefix_of(self.environment, self.public_id)}_{self.secret}"

    @property
    def last4(self) -> str:
        """What is shown of the secret, so that its holder recognises it."""
        return self.secret[-4:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whom a valid key stands for. `number` is the one it sends from: its own, or the platform's default, or none.

    A tenant key belongs to a project too, but stands for every number of the tenant and sends from none.
    """

    key_id: UUID
    secret_hash: bytes = field(repr=False)
    environment: Environment
    tenant_id: UUID
    project_id: UUID
    production_approved: bool
    scope: KeyScope
    number: Number | None
    allowance: Allowance

    @property
    def bound(self) -> bool:
        """Whether the key stands for one number of its own."""
        return self.scope is KeyScope.NUMBER


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What a key has left of its requests, and when it has all of them again if it asks for nothing until then."""

    per_minute: int
    left: int
    full_in_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key as it is stored, without its hash. `last4` is unknown for keys from before it was kept.

    `last_used_at` is up to a minute behind.
    """

    key_id: UUID
    public_id: str
    name: str
    environment: Environment
    project_id: UUID
    number_id: UUID | None
    scope: KeyScope
    last4: str | None
    created_at: datetime
    last_used_at: datetime | None = None

    @property
    def prefix(self) -> str:
        """What may be shown of the raw key."""
        return prefix_of(self.environment, self.public_id)


def prefix_of(environment: str, public_id: str) -> str:
    """The part of a raw key that may be shown."""
    return f"ps_{environment.lower()}_{public_id}"


def parse_key(raw: str | None) -> KeyParts:
    """The parts of an API key; raises for anything else."""
    match = _FORMAT.fullmatch(raw or "")
    if match is None:
        raise RefusedError(Refusal.API_KEY_INVALID)
    return KeyParts(environment=Environment(match[1].upper()), public_id=match[2], secret=match[3])


def scope_of(wanted: KeyScope | None, *, number_given: bool) -> KeyScope:
    """The scope of a new key; raises if it does not go with having a number or none."""
    fitting = KeyScope.NUMBER if number_given else (wanted or KeyScope.DEFAULT)
    if wanted not in (None, fitting) or (fitting is KeyScope.NUMBER) != number_given:
        raise RefusedError(Refusal.KEY_SCOPE_INVALID, field="scope")
    return fitting


def check_belongs(number: Number | None, *, tenant_id: UUID) -> None:
    """A key is bound to a number of its own tenant or of the platform, as long as that is not deleted."""
    if number is None or number.deleted_at is not None or number.tenant_id not in (None, tenant_id):
        raise RefusedError(Refusal.NUMBER_NOT_FOUND, field="numberId")


def rotates_keys(caller: Caller) -> None:
    """Only a tenant key may give a number a new key."""
    if caller.scope is not KeyScope.TENANT:
        raise RefusedError(Refusal.NUMBER_SCOPE_NOT_ALLOWED)


def admit(parts: KeyParts, caller: Caller | None) -> Caller:
    """The caller, if the key's secret and environment are right; every failure looks the same."""
    expected = caller.secret_hash if caller else bytes(32)
    matches = hmac.compare_digest(expected, parts.secret_hash)
    if caller is None or not matches or caller.environment is not parts.environment:
        raise RefusedError(Refusal.API_KEY_INVALID)
    return caller


def sending_number(caller: Caller) -> Number:
    """The key's own number, which must be connected, or else the platform's default."""
    if caller.scope is KeyScope.TENANT:
        raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED)
    if caller.number is None:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND if caller.bound else Refusal.DEFAULT_NUMBER_NOT_CONFIGURED)
    if caller.bound and caller.number.state is not ConnectionState.OPEN:
        raise RefusedError(Refusal.NUMBER_NOT_OPEN)
    return caller.number


def check_rate(wait_seconds: float, *, per_minute: int) -> None:
    """Raises `RefusedError(RATE_LIMITED)` if a key has to wait before its next request."""
    if wait_seconds > 0:
        seconds = math.ceil(wait_seconds)
        raise RefusedError(
            Refusal.RATE_LIMITED,
            extras={"retryAfterSeconds": seconds},
            quota=Quota(name="requests", limit=per_minute, window_seconds=60, reset_seconds=seconds),
        )
