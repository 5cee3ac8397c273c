"""What the log of changes may show of each target: a closed list of columns, none with personal data or a secret."""

from collections.abc import Mapping

from sqlalchemy import Table

from api.access.tables import API_KEYS
from api.accounts.tables import PROJECTS, TENANTS
from api.erasures.tables import ERASURES
from api.limits.tables import PACKAGES, PLANS
from api.messages.tables import MESSAGES
from api.numbers.tables import NUMBERS
from api.operators.domain import Target
from api.operators.tables import OPERATORS, Audited
from api.optins.tables import OPT_INS
from api.profiles.tables import PROFILES
from api.templates.tables import TEMPLATE_VERSIONS


def _of(table: Table, *columns: str, key: str = "id") -> Audited:
    return Audited(table, tuple(table.c[name] for name in columns), table.c[key])


AUDITED: Mapping[Target, Audited] = {
    Target.TENANT: _of(TENANTS, "weight", "plan_id", "timezone", "default_country"),
    Target.PROJECT: _of(PROJECTS, "tenant_id", "production_approved"),
    Target.PLAN: _of(
        PLANS,
        "name",
        "live_monthly",
        "live_daily",
        "test_daily",
        "test_anyone",
        "media_allowed",
        "requests_per_minute",
    ),
    Target.PACKAGE: _of(PACKAGES, "tenant_id", "messages", "starts_at", "ends_at"),
    Target.PROFILE: _of(PROFILES, "tenant_id"),
    Target.OPT_IN: _of(OPT_INS, "tenant_id", "project_id", "first_opt_in_at", "revoked_at"),
    Target.KEY: _of(API_KEYS, "project_id", "environment", "scope", "number_id", "revoked_at"),
    Target.NUMBER: _of(NUMBERS, "tenant_id", "platform_default", "pacing", "paused", "version"),
    Target.TEMPLATE: _of(TEMPLATE_VERSIONS, "version", "state", "production_approved", key="template_id"),
    Target.MESSAGE: _of(MESSAGES, "tenant_id", "status", "round", "version", "error_code", "deliver_until"),
    Target.RECIPIENT: _of(ERASURES, "tenant_id", "requested_at", "profiles_deleted", "opt_ins_revoked"),
    Target.OPERATOR: _of(OPERATORS, "role", "revoked_at"),
}
