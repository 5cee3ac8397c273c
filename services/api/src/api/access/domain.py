"""API keys as values: their format, and what their holder may do."""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from uuid import UUID

from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from contracts.values import ConnectionState, Environment

_FORMAT = re.compile(r"ps_(test|live)_([0-9A-Za-z]{12})_([0-9A-Za-z_-]{43})")


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
        return f"ps_{self.environment.lower()}_{self.public_id}_{self.secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whom a valid key stands for. `number` is the one it sends from: its own, or the platform's default, or none."""

    key_id: UUID
    secret_hash: bytes = field(repr=False)
    environment: Environment
    tenant_id: UUID
    project_id: UUID
    production_approved: bool
    bound: bool
    number: Number | None


def parse_key(raw: str | None) -> KeyParts:
    """The parts of an API key; raises for anything else."""
    match = _FORMAT.fullmatch(raw or "")
    if match is None:
        raise RefusedError(Refusal.API_KEY_INVALID)
    return KeyParts(environment=Environment(match[1].upper()), public_id=match[2], secret=match[3])


def admit(parts: KeyParts, caller: Caller | None) -> Caller:
    """The caller, if the key's secret and environment are right; every failure looks the same."""
    expected = caller.secret_hash if caller else bytes(32)
    matches = hmac.compare_digest(expected, parts.secret_hash)
    if caller is None or not matches or caller.environment is not parts.environment:
        raise RefusedError(Refusal.API_KEY_INVALID)
    return caller


def sending_number(caller: Caller) -> Number:
    """The key's own number, which must be connected, or else the platform's default."""
    if caller.number is None:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND if caller.bound else Refusal.DEFAULT_NUMBER_NOT_CONFIGURED)
    if caller.bound and caller.number.state is not ConnectionState.OPEN:
        raise RefusedError(Refusal.NUMBER_NOT_OPEN)
    return caller.number
