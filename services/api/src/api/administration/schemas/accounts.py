"""Bodies of the operators' routes on tenants and projects."""

from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StringConstraints

from api.accounts.domain import Project
from api.administration.domain import Tenant
from api.administration.schemas.changes import ChangeBody
from api.schemas import Body, PlainLine, instant


def _check_timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("not a time zone of the IANA database, like America/Sao_Paulo") from None
    return name


Name = Annotated[PlainLine, Field(min_length=1, max_length=200)]
Timezone = Annotated[PlainLine, Field(min_length=1, max_length=64), AfterValidator(_check_timezone)]
Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
Weight = Annotated[StrictInt, Field(ge=1, le=100)]


class TenantBody(Body):
    """A customer of the platform. Its share of a number grows with its weight; days and months are its time zone's."""

    name: Name
    weight: Weight = 1
    plan_id: UUID | None = None
    timezone: Timezone = "UTC"
    default_country: Country | None = None


class TenantChangeBody(ChangeBody):
    """Null takes away the plan, and with it every limit, or the default country."""

    name: Name = ""
    weight: Weight = 1
    plan_id: UUID | None = None
    timezone: Timezone = "UTC"
    default_country: Country | None = None


class ProjectBody(Body):
    """A project; its LIVE keys send only once it is approved for production."""

    tenant_id: UUID
    name: Name
    production_approved: StrictBool = False


class ProjectChangeBody(ChangeBody):
    """`productionApproved` lets the project's LIVE keys send, or stops them."""

    name: Name = ""
    production_approved: StrictBool = False


def tenant_body(tenant: Tenant) -> dict[str, Any]:
    """A tenant."""
    return {
        "id": str(tenant.tenant_id),
        "name": tenant.name,
        "weight": tenant.weight,
        "planId": str(tenant.plan_id) if tenant.plan_id else None,
        "timezone": tenant.timezone,
        "defaultCountry": tenant.default_country,
        "createdAt": instant(tenant.created_at),
    }


def project_body(project: Project) -> dict[str, Any]:
    """A project with its tenant."""
    return {
        "id": str(project.project_id),
        "tenantId": str(project.tenant_id),
        "name": project.name,
        "slug": project.slug,
        "productionApproved": project.production_approved,
        "createdAt": instant(project.created_at),
    }
