"""Bodies of the operator's number routes."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, SecretStr, StringConstraints, ValidationInfo, field_validator

from api.numbers.domain import Number
from api.numbers.usecases import Registered, Registration
from api.schemas import Body
from contracts.values import EnvironmentPacing, GatewayAccess, Instance, Pace, PacingPolicy

Phone = Annotated[str, StringConstraints(pattern=r"^\+?[1-9][0-9]{7,14}$")]

_DEFAULTS = PacingPolicy()


class PaceBody(Pace):
    """How fast one category may go."""

    @field_validator("max_ms")
    @classmethod
    def _not_below_the_least(cls, longest: int, info: ValidationInfo) -> int:
        if longest < info.data.get("min_ms", 0):
            raise ValueError("must not be below min_ms")
        return longest


class EnvironmentPacingBody(EnvironmentPacing):
    """What is different in one environment."""

    otp: PaceBody | None = None
    utility: PaceBody | None = None
    marketing: PaceBody | None = None


class PacingBody(PacingPolicy):
    """How fast one number may send. Gaps are in milliseconds, counted from the start of the previous send.

    `burst` sends may go without a gap after a rest; `per_hour` and `per_day` hold in any hour and any day. `test` and
    `live` replace what is different in one environment. `min_share`: a lower category that waits gets at least one of
    so many turns. `first_contacts_per_day`: how many strangers may be written to in any day. `do_not_repeat_seconds`:
    for how long the platform's number does not send someone the same text twice in a row. `pause_when_unacknowledged`:
    rest for a while whenever none of the last messages was acknowledged.
    """

    otp: PaceBody = PaceBody(**_DEFAULTS.otp.model_dump())
    utility: PaceBody = PaceBody(**_DEFAULTS.utility.model_dump())
    marketing: PaceBody = PaceBody(**_DEFAULTS.marketing.model_dump())
    test: EnvironmentPacingBody | None = None
    live: EnvironmentPacingBody | None = None

    def policy(self) -> PacingPolicy:
        """The same as a value."""
        return PacingPolicy.model_validate(self.model_dump())


class RegisterNumberBody(Body):
    """A number that already exists as an instance at its gateway."""

    instance: Instance
    tenant_id: UUID | None = None
    platform_default: bool = False
    display_name: str | None = Field(default=None, min_length=1, max_length=100)
    phone: Phone | None = None
    gateway_url: str = Field(pattern=r"^https?://", max_length=2_048)
    gateway_api_key: SecretStr = Field(max_length=500)
    pacing: PacingBody = PacingBody()

    def registration(self) -> Registration:
        """The same as a value."""
        return Registration(
            tenant_id=self.tenant_id,
            instance=self.instance,
            display_name=self.display_name,
            phone=self.phone.lstrip("+") if self.phone else None,
            platform_default=self.platform_default,
            access=GatewayAccess(base_url=self.gateway_url, api_key=self.gateway_api_key.get_secret_value()),
            pacing=self.pacing.policy(),
        )


def number_body(number: Number) -> dict[str, Any]:
    """A number without its credentials."""
    return {
        "id": str(number.number_id),
        "tenantId": str(number.tenant_id) if number.tenant_id else None,
        "instance": number.instance,
        "displayName": number.display_name,
        "phone": number.phone,
        "platformDefault": number.platform_default,
        "paused": number.paused,
        "state": number.state.value,
        "pacing": number.pacing.model_dump(mode="json"),
    }


def registered_body(registered: Registered) -> dict[str, Any]:
    """The number, and whether its queue and its gateway's webhook could be set up at once."""
    return {
        **number_body(registered.number),
        "laneDeclared": registered.lane_declared,
        "webhookConfigured": registered.webhook_configured,
    }
