"""A number as the api sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from contracts.facts import NumberConfigured
from contracts.values import ConnectionState, PacingPolicy


class PiiMode(StrEnum):
    """How long the content of a number's messages is kept."""

    STORE_INDEFINITE = "STORE_INDEFINITE"
    STORE_X_DAYS = "STORE_X_DAYS"
    RELAY_ONLY = "RELAY_ONLY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number's configuration and last known connection. `phone` is E.164 digits without `+`.

    A deleted number stays for a while, paused, and can be restored.
    """

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
    state_observed_at: datetime | None = None
    connected_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    deleted_at: datetime | None = None
    pii_mode: PiiMode = PiiMode.STORE_INDEFINITE
    pii_retention_days: int | None = None
    settings: Mapping[str, bool | str | None] = field(default_factory=dict)

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
            paused=self.paused or self.deleted_at is not None,
            sealed_access=self.sealed_access,
            version=self.version,
            configured_at=at,
        )
