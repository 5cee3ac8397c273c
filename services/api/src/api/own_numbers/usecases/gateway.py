"""What these use cases need of a WhatsApp gateway, and the way to its credentials."""

from collections.abc import Sequence
from typing import Protocol

from api.numbers.domain import Number
from api.own_numbers.domain import Group, Pairing
from chassis.seal import KeyRing
from contracts.values import ConnectionState, GatewayAccess


class Gateway(Protocol):
    """Calls raise `RefusedError` with PROVIDER_NOT_CONFIGURED, UPSTREAM_TIMEOUT or UPSTREAM_ERROR."""

    def new_access(self, token: str) -> GatewayAccess:
        """How an instance of the platform's own gateway will be reached."""
        ...

    async def create(self, instance: str, access: GatewayAccess, *, phone: str | None) -> Pairing:
        """A new instance whose webhooks come to us."""
        ...

    async def connect(self, instance: str, access: GatewayAccess, *, phone: str | None) -> Pairing:
        """Begin to connect; an instance the gateway has lost is created again."""
        ...

    async def state(self, instance: str, access: GatewayAccess) -> ConnectionState:
        """The connection right now."""
        ...

    async def groups(self, instance: str, access: GatewayAccess) -> Sequence[Group]:
        """The groups of a connected number."""
        ...

    async def log_out(self, instance: str, access: GatewayAccess) -> bool:
        """End the session; False if the gateway would not, which is logged and never raised."""
        ...

    async def remove(self, instance: str, access: GatewayAccess) -> bool:
        """Remove the instance; False as above."""
        ...


def access_of(number: Number, keys: KeyRing) -> GatewayAccess:
    """The credentials sealed with a number."""
    return GatewayAccess.model_validate_json(keys.open(number.sealed_access, aad=number.number_id.bytes))
