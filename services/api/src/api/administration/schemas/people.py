"""Bodies of the routes on profiles and opt-ins: who may see a whole phone number and who only its end."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StrictStr

from api.administration.domain import OptIn, Profile, masked
from api.operators.domain import Operator, Role
from api.schemas import Body, PlainLine, instant

Phone = Annotated[StrictStr, Field(min_length=1, max_length=100)]
ProfileName = Annotated[PlainLine, Field(min_length=1, max_length=100)]


class ProfileBody(Body):
    """A phone number of the tenant's own people, which its TEST keys may send to."""

    tenant_id: UUID
    name: ProfileName
    phone: Phone


class ProfileNameBody(Body):
    """Another name for a profile; another phone is another profile."""

    name: ProfileName


class OptInBody(Body):
    """A recipient's consent to get messages of a project from the platform's number."""

    project_id: UUID
    phone: Phone


def shown_phone(phone: str | None, operator: Operator) -> str | None:
    """With `+`; a viewer sees only the last digits, and nobody one that was erased."""
    if phone is None:
        return None
    return f"+{phone if operator.role.covers(Role.OPERATOR) else masked(phone)}"


def profile_body(profile: Profile, operator: Operator) -> dict[str, Any]:
    """A profile as this operator may see it."""
    return {
        "id": str(profile.profile_id),
        "tenantId": str(profile.tenant_id),
        "name": profile.name,
        "phone": shown_phone(profile.phone, operator),
        "createdAt": instant(profile.created_at),
    }


def opt_in_body(opt_in: OptIn, operator: Operator) -> dict[str, Any]:
    """An opt-in as this operator may see it."""
    return {
        "id": str(opt_in.opt_in_id),
        "tenantId": str(opt_in.tenant_id),
        "projectId": str(opt_in.project_id),
        "phone": shown_phone(opt_in.phone, operator),
        "firstOptInAt": instant(opt_in.first_opt_in_at),
        "lastSeenAt": instant(opt_in.last_seen_at),
        "revokedAt": instant(opt_in.revoked_at),
    }
