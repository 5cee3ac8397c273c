"""Bodies of the operators' routes on plans and packages."""

from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, StrictBool, StrictInt, model_validator

from api.administration.domain import Package, Plan
from api.administration.schemas.changes import ChangeBody
from api.schemas import Body, PlainLine, instant

COUNT_MAX = 1_000_000_000

Limit = Annotated[StrictInt, Field(ge=0, le=COUNT_MAX)]
Rate = Annotated[StrictInt, Field(ge=1, le=1_000_000)]


class PlanBody(Body):
    """What tenants of the plan may send; a limit that is null or left out is none."""

    name: PlainLine = Field(min_length=1, max_length=100)
    live_monthly: Limit | None = None
    live_daily: Limit | None = None
    test_daily: Limit | None = None
    test_anyone: StrictBool = False
    media_allowed: StrictBool = True
    requests_per_minute: Rate | None = None


class PlanChangeBody(ChangeBody):
    """A plan keeps its name; null lifts a limit."""

    live_monthly: Limit | None = None
    live_daily: Limit | None = None
    test_daily: Limit | None = None
    test_anyone: StrictBool = False
    media_allowed: StrictBool = True
    requests_per_minute: Rate | None = None


class PackageBody(Body):
    """Messages a tenant may send on top of its plan, for a while."""

    tenant_id: UUID
    messages: StrictInt = Field(ge=1, le=COUNT_MAX)
    starts_at: AwareDatetime
    ends_at: AwareDatetime

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.ends_at <= self.starts_at:
            raise ValueError("`endsAt` must be after `startsAt`")
        return self


def plan_body(plan: Plan) -> dict[str, Any]:
    """A plan; a null limit is none."""
    return {
        "id": str(plan.plan_id),
        "name": plan.name,
        "liveMonthly": plan.live_monthly,
        "liveDaily": plan.live_daily,
        "testDaily": plan.test_daily,
        "testAnyone": plan.test_anyone,
        "mediaAllowed": plan.media_allowed,
        "requestsPerMinute": plan.requests_per_minute,
        "createdAt": instant(plan.created_at),
    }


def package_body(package: Package) -> dict[str, Any]:
    """A package."""
    return {
        "id": str(package.package_id),
        "tenantId": str(package.tenant_id),
        "messages": package.messages,
        "startsAt": instant(package.starts_at),
        "endsAt": instant(package.ends_at),
        "createdAt": instant(package.created_at),
    }
