"""A number as the api sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from contracts.facts import NumberConfigured, NumberCreated, NumberRemoved, NumberRestored
from contracts.values import ConnectionState, NumberProfile, PacingPolicy


class PiiMode(StrEnum):
    """How long the content of a number's messages is kept."""

    STORE_INDEFINITE = "STORE_INDEFINITE"
    STORE_X_DAYS = "STORE_X_DAYS"
    RELAY_ONLY = "RELAY_ONLY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number's configuration and last known connection. `phone` is E.164 digits without `+`.

    A deleted number stays for a while and can be restored.
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

    @property
    def profile(self) -> NumberProfile:
        """What the customer's webhooks call the number."""
        return NumberProfile(phone=self.phone, display_name=self.origin)

    def configured(self, at: datetime, *, sealed_profile: str) -> NumberConfigured:
        """The fact that tells everyone how the number is configured; a deleted number is told as removed instead."""
        return NumberConfigured(
            number_id=self.number_id,
            instance=self.instance,
            gateway=self.gateway,
            tenant_id=self.tenant_id,
            platform_default=self.platform_default,
            pacing=self.pacing,
            paused=self.paused,
            sealed_access=self.sealed_access,
            sealed_profile=sealed_profile,
            version=self.version,
            configured_at=at,
        )

    def created(self, at: datetime, *, sealed_profile: str) -> NumberCreated:
        """The number is there from now on."""
        return NumberCreated(**self._turn(at, sealed_profile))

    def removed(self, at: datetime, *, sealed_profile: str) -> NumberRemoved:
        """Nothing is sent from the number from now on."""
        return NumberRemoved(**self._turn(at, sealed_profile))

    def restored(self, at: datetime, *, sealed_profile: str) -> NumberRestored:
        """The number is back."""
        return NumberRestored(**self._turn(at, sealed_profile))

    def purged(self, at: datetime) -> NumberRemoved:
        """The removed number cannot come back; the next version, as no row will have it."""
        return NumberRemoved(**{**self._turn(at, None), "version": self.version + 1, "purged": True})

    def _turn(self, at: datetime, sealed_profile: str | None) -> dict[str, Any]:
        return {
            "number_id": self.number_id,
            "instance": self.instance,
            "tenant_id": self.tenant_id,
            "sealed_profile": sealed_profile,
            "version": self.version,
            "at": at,
        }
