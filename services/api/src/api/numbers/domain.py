"""A number as the api sees it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.facts import NumberConfigured
from contracts.values import ConnectionState, PacingPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number's configuration and last known connection. `phone` is E.164 digits without `+`."""

    number_id: UUID
    tenant_id: UUID | None
    instance: str
    display_name: str | None
    phone: str | None
    platform_default: bool
    gateway: str
    sealed_access: str
    pacing: PacingPolicy
    paused: bool
    version: int
    state: ConnectionState

    @property
    def origin(self) -> str:
        """What the 202 calls the number."""
        return self.display_name or self.instance

    def configured(self, at: datetime) -> NumberConfigured:
        """The fact that tells everyone how the number is configured."""
        return NumberConfigured(
            number_id=self.number_id,
            instance=self.instance,
            gateway=self.gateway,
            tenant_id=self.tenant_id,
            platform_default=self.platform_default,
            pacing=self.pacing,
            paused=self.paused,
            sealed_access=self.sealed_access,
            version=self.version,
            configured_at=at,
        )
