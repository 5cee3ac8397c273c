"""What is configured for a number and how it is connected."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.facts.fact import Fact
from contracts.values import ConnectionState, Instance, PacingPolicy, Sealed


class NumberConfigured(Fact):
    """A number exists with this configuration; the highest `version` wins. Said by api.

    `tenant_id` is None for a number of the platform.
    `sealed_access` holds a `GatewayAccess`; its associated data is the number id.
    """

    TYPE: ClassVar[str] = "number.configured.v1"

    number_id: UUID
    instance: Instance
    gateway: str = Field(default="evolution", max_length=50)
    tenant_id: UUID | None = None
    platform_default: bool = False
    pacing: PacingPolicy = PacingPolicy()
    paused: bool = False
    sealed_access: Sealed
    version: int = Field(ge=1)
    configured_at: AwareDatetime


class NumberConnectionChanged(Fact):
    """A number's connection was seen in another state. Said by dispatcher (probe) and status-ingest (webhook)."""

    TYPE: ClassVar[str] = "number.connection_changed.v1"

    instance: Instance
    state: ConnectionState
    reason: str | None = Field(default=None, max_length=200)
    observed_at: AwareDatetime
