"""Who may do what: roles, the closed set of actions, and operator keys as values."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any
from uuid import UUID

from api.refusals import Refusal, RefusedError

_FORMAT = re.compile(r"op_([0-9A-Za-z]{12})_([0-9A-Za-z_-]{43})")


class Role(StrEnum):
    """Each role may do what the ones before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def covers(self, needed: "Role") -> bool:
        """Whether who has this role may do what needs the other."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class Target(StrEnum):
    """What a change is made to."""

    TENANT = "tenant"
    PROJECT = "project"
    PLAN = "plan"
    PACKAGE = "package"
    PROFILE = "profile"
    OPT_IN = "opt_in"
    KEY = "key"
    NUMBER = "number"
    TEMPLATE = "template"
    MESSAGE = "message"
    WEBHOOK = "webhook"
    DEAD_LETTER = "dead_letter"
    OPERATOR = "operator"
    RECIPIENT = "recipient"


class Action(Enum):
    """Everything an operator can change: its name in the log, its target, and the role it needs."""

    TENANT_CREATE = ("tenant.create", Target.TENANT, Role.ADMIN)
    TENANT_CHANGE = ("tenant.change", Target.TENANT, Role.ADMIN)
    PROJECT_CREATE = ("project.create", Target.PROJECT, Role.ADMIN)
    PROJECT_CHANGE = ("project.change", Target.PROJECT, Role.ADMIN)
    PLAN_CREATE = ("plan.create", Target.PLAN, Role.ADMIN)
    PLAN_CHANGE = ("plan.change", Target.PLAN, Role.ADMIN)
    PLAN_DELETE = ("plan.delete", Target.PLAN, Role.ADMIN)
    PACKAGE_CREATE = ("package.create", Target.PACKAGE, Role.ADMIN)
    PACKAGE_DELETE = ("package.delete", Target.PACKAGE, Role.ADMIN)
    PROFILE_CREATE = ("profile.create", Target.PROFILE, Role.OPERATOR)
    PROFILE_CHANGE = ("profile.change", Target.PROFILE, Role.OPERATOR)
    PROFILE_DELETE = ("profile.delete", Target.PROFILE, Role.OPERATOR)
    OPT_IN_GRANT = ("opt_in.grant", Target.OPT_IN, Role.OPERATOR)
    OPT_IN_REVOKE = ("opt_in.revoke", Target.OPT_IN, Role.OPERATOR)
    KEY_ISSUE = ("key.issue", Target.KEY, Role.OPERATOR)
    KEY_REVOKE = ("key.revoke", Target.KEY, Role.OPERATOR)
    NUMBER_REGISTER = ("number.register", Target.NUMBER, Role.ADMIN)
    NUMBER_MAKE_DEFAULT = ("number.make_default", Target.NUMBER, Role.ADMIN)
    NUMBER_PACE = ("number.pace", Target.NUMBER, Role.OPERATOR)
    NUMBER_PAUSE = ("number.pause", Target.NUMBER, Role.OPERATOR)
    NUMBER_RESUME = ("number.resume", Target.NUMBER, Role.OPERATOR)
    TEMPLATE_CREATE = ("template.create", Target.TEMPLATE, Role.OPERATOR)
    TEMPLATE_APPROVE = ("template.approve", Target.TEMPLATE, Role.OPERATOR)
    TEMPLATE_REJECT = ("template.reject", Target.TEMPLATE, Role.OPERATOR)
    TEMPLATE_APPROVE_FOR_PRODUCTION = ("template.approve_for_production", Target.TEMPLATE, Role.OPERATOR)
    MESSAGE_REPROCESS = ("message.reprocess", Target.MESSAGE, Role.OPERATOR)
    WEBHOOK_REPLAY = ("webhook.replay", Target.WEBHOOK, Role.OPERATOR)
    WEBHOOK_ENABLE = ("webhook.enable", Target.WEBHOOK, Role.OPERATOR)
    MESSAGE_CANCEL = ("message.cancel", Target.MESSAGE, Role.OPERATOR)
    DEAD_LETTER_REPLAY = ("dead_letter.replay", Target.DEAD_LETTER, Role.OPERATOR)
    DEAD_LETTER_DISCARD = ("dead_letter.discard", Target.DEAD_LETTER, Role.OPERATOR)
    RECIPIENT_ERASE = ("recipient.erase", Target.RECIPIENT, Role.OPERATOR)
    OPERATOR_CREATE = ("operator.create", Target.OPERATOR, Role.ADMIN)
    OPERATOR_CHANGE = ("operator.change", Target.OPERATOR, Role.ADMIN)
    OPERATOR_REVOKE = ("operator.revoke", Target.OPERATOR, Role.ADMIN)

    def __init__(self, label: str, target: Target, role: Role) -> None:
        self.label, self.target, self.role = label, target, role


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Whom a valid operator key stands for; without an id it is the key from the environment."""

    operator_id: UUID | None
    name: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOperator:
    """An operator as stored, `secret_hash` included."""

    operator: Operator
    secret_hash: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedOperator:
    """An operator as other operators see it."""

    operator_id: UUID
    name: str
    role: Role
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorKeyParts:
    """A raw operator key taken apart; the secret never shows in a repr."""

    public_id: str
    secret: str = field(repr=False)

    @property
    def secret_hash(self) -> bytes:
        """What is stored: 256 random bits need no slow hash."""
        return hashlib.sha256(self.secret.encode()).digest()

    def raw(self) -> str:
        """The key as its holder sees it, once."""
        return f"op_{self.public_id}_{self.secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change: who did what to what, and what the log may show of the target before and after it."""

    entry_id: UUID
    operator_id: UUID | None
    action: str
    target_type: str
    target_id: UUID
    before: Sequence[Mapping[str, Any]] | None
    after: Sequence[Mapping[str, Any]] | None
    request_id: str
    at: datetime | None = None
    operator_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries are wanted; all given conditions hold at once. `until_id` is where the page before ended."""

    operator_id: UUID | None = None
    action: str | None = None
    target_type: str | None = None
    target_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    until_id: UUID | None = None


def parse_operator_key(raw: str) -> OperatorKeyParts | None:
    """The parts of an operator key; None for anything else."""
    match = _FORMAT.fullmatch(raw)
    return OperatorKeyParts(public_id=match[1], secret=match[2]) if match else None


def admit(parts: OperatorKeyParts, known: KnownOperator | None) -> Operator:
    """The operator, if the key's secret is right; every failure looks the same and takes the same time."""
    expected = known.secret_hash if known else bytes(32)
    matches = hmac.compare_digest(expected, parts.secret_hash)
    if known is None or not matches:
        raise RefusedError(Refusal.OPERATOR_KEY_INVALID)
    return known.operator


def authorise(operator: Operator, needed: Role) -> None:
    """Raises `RefusedError(OPERATOR_ROLE_NOT_ALLOWED)`."""
    if not operator.role.covers(needed):
        raise RefusedError(Refusal.OPERATOR_ROLE_NOT_ALLOWED, f"This needs the role `{needed}`.")


def first_id_of(moment: datetime) -> UUID:
    """Below every id made at or after a moment: ids begin with 48 bits of Unix milliseconds (UUIDv7)."""
    return UUID(int=int(moment.timestamp() * 1_000) << 80)
