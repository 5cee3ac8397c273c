"""What is configured for a number, how it is connected, and when it comes and goes."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.facts.fact import Fact
from contracts.values import ConnectionState, Instance, PacingPolicy, Sealed


class NumberConfigured(Fact):
    """A number exists with this configuration; the highest `version` wins. Said by api.

    `tenant_id` is None for a number of the platform.
    Never said of a removed number, so it also ends a removal of a lower version.
    `sealed_access` holds a `GatewayAccess`, `sealed_profile` a `NumberProfile`; their associated data is the number id.
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
    sealed_profile: Sealed | None = None
    version: int = Field(ge=1)
    configured_at: AwareDatetime


class NumberTurn(Fact):
    """A turn in a number's life. `version` is that of its configuration, so turns and configurations have one order.

    `tenant_id` is None for a number of the platform. `sealed_profile` as in `NumberConfigured`.
    """

    number_id: UUID
    instance: Instance
    tenant_id: UUID | None = None
    sealed_profile: Sealed | None = None
    version: int = Field(ge=1)
    at: AwareDatetime


class NumberCreated(NumberTurn):
    """A number was created by its tenant or registered by an operator. Said by api."""

    TYPE: ClassVar[str] = "number.created.v1"


class NumberRemoved(NumberTurn):
    """Nothing is sent from the number any more, unless it is restored. Said by api.

    `purged`: what was removed before is now gone for good, and nothing personal of it may be kept.
    """

    TYPE: ClassVar[str] = "number.removed.v1"

    purged: bool = False


class NumberRestored(NumberTurn):
    """A removed number is back, not yet connected; its configuration is told with it. Said by api."""

    TYPE: ClassVar[str] = "number.restored.v1"


class NumberConnectionChanged(Fact):
    """A number's connection was seen in another state. Said by dispatcher (probe) and status-ingest (webhook)."""

    TYPE: ClassVar[str] = "number.connection_changed.v1"

    instance: Instance
    state: ConnectionState
    reason: str | None = Field(default=None, max_length=200)
    observed_at: AwareDatetime
