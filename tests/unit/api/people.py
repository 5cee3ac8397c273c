"""Values that the api's unit tests share: a number, callers, a template and whom a message fact is about."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from api.access.domain import Caller, KeyScope
from api.limits.domain import Allowance
from api.numbers.domain import Number
from api.templates.domain import Template
from contracts.ids import uuid7
from contracts.values import Category, ConnectionState, Environment, MessageRef, PacingPolicy

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
PROJECT_ID: UUID = uuid7()
REF = MessageRef(
    message_id=uuid7(),
    tenant_id=uuid7(),
    project_id=uuid7(),
    number_id=uuid7(),
    instance="loja",
    environment=Environment.LIVE,
    category=Category.UTILITY,
    correlation_id="c",
)

NUMBER = Number(
    number_id=uuid7(),
    tenant_id=None,
    instance="loja",
    display_name="Loja",
    phone="5511900000000",
    platform_default=True,
    gateway="evolution",
    sealed_access="sealed",
    pacing=PacingPolicy(),
    paused=False,
    version=1,
    state=ConnectionState.OPEN,
)
CALLER = Caller(
    key_id=uuid7(),
    secret_hash=bytes(32),
    environment=Environment.LIVE,
    tenant_id=uuid7(),
    project_id=PROJECT_ID,
    production_approved=True,
    scope=KeyScope.DEFAULT,
    number=NUMBER,
    allowance=Allowance(),
)
TESTER = replace(CALLER, environment=Environment.TEST, production_approved=False)
TEMPLATE = Template(
    template_id=uuid7(),
    name="pedido",
    category=Category.OTP,
    body="Oi {{nome}}, total {{valor}}",
    production_approved=True,
)
