"""Bodies of the operator's number routes."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, SecretStr, StringConstraints

from api.numbers.domain import Number
from api.numbers.usecases import Registered, Registration
from api.schemas import Body
from contracts.values import GatewayAccess, Instance, PacingPolicy

Phone = Annotated[str, StringConstraints(pattern=r"^\+?[1-9][0-9]{7,14}$")]


class RegisterNumberBody(Body):
    """A number that already exists as an instance at its gateway."""

    instance: Instance
    tenant_id: UUID | None = None
    platform_default: bool = False
    display_name: str | None = Field(default=None, min_length=1, max_length=100)
    phone: Phone | None = None
    gateway_url: str = Field(pattern=r"^https?://", max_length=2_048)
    gateway_api_key: SecretStr = Field(max_length=500)
    pacing: PacingPolicy = PacingPolicy()

    def registration(self) -> Registration:
        """The same as a value."""
        return Registration(
            tenant_id=self.tenant_id,
            instance=self.instance,
            display_name=self.display_name,
            phone=self.phone.lstrip("+") if self.phone else None,
            platform_default=self.platform_default,
            access=GatewayAccess(base_url=self.gateway_url, api_key=self.gateway_api_key.get_secret_value()),
            pacing=self.pacing,
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
