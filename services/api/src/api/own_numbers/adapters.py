"""The gateway's instance endpoints as this resource uses them; every failure becomes one of three refusals."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from api.own_numbers.domain import Group, Pairing
from api.refusals import Refusal, RefusedError
from chassis.telemetry.logs import get_logger
from contracts.values import ConnectionState, GatewayAccess
from gateways.evolution.instances import (
    EvolutionInstances,
    GatewayAccessDeniedError,
    InstanceCallError,
    InstanceNotFoundError,
    InstanceTimeoutError,
)
from gateways.evolution.pairing import Pairing as EvolutionPairing
from gateways.evolution.webhook_address import own_url
from gateways.port import Access

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionNumbers:
    """`home` is the platform's own gateway with its global key, where instances are created.

    `quick` asks, `patient` changes: pairing takes Evolution some seconds. `ingest_url` is the shared address of
    status-ingest; each number's webhooks go to its own.
    """

    quick: EvolutionInstances
    patient: EvolutionInstances
    home: GatewayAccess | None
    ingest_url: str | None

    def new_access(self, token: str) -> GatewayAccess:
        """Raises `RefusedError(PROVIDER_NOT_CONFIGURED)` if there is no gateway to create at."""
        return GatewayAccess(base_url=self._home().base_url, api_key=token)

    async def create(self, instance: str, access: GatewayAccess, *, phone: str | None) -> Pairing:
        """Its webhooks are set before anybody can scan the code."""
        home = self._home()
        async with _translated():
            pairing = await self.patient.create(_target(instance, home), token=access.api_key, phone=phone, pair=True)
        await self._point(instance, access)
        return _pairing(pairing)

    async def connect(self, instance: str, access: GatewayAccess, *, phone: str | None) -> Pairing:
        """An instance of the platform's own gateway that is gone is created again."""
        async with _translated():
            try:
                pairing = await self.patient.connect(_target(instance, access))
            except InstanceNotFoundError:
                if self.home is None or self.home.base_url != access.base_url:
                    raise
                return await self.create(instance, access, phone=phone)
        await self._point(instance, access)
        return _pairing(pairing)

    async def state(self, instance: str, access: GatewayAccess) -> ConnectionState:
        """An instance the gateway does not have is closed."""
        async with _translated():
            try:
                return ConnectionState((await self.quick.state(_target(instance, access))).value)
            except InstanceNotFoundError:
                return ConnectionState.CLOSE

    async def groups(self, instance: str, access: GatewayAccess) -> Sequence[Group]:
        """Evolution asks WhatsApp for them."""
        async with _translated():
            found = await self.patient.groups(_target(instance, access))
        return [Group(group_id=group.group_id, subject=group.subject) for group in found]

    async def log_out(self, instance: str, access: GatewayAccess) -> bool:
        """An instance that is gone has no session."""
        try:
            await self.quick.logout(_target(instance, access))
        except InstanceNotFoundError:
            return True
        except InstanceCallError as error:
            logger.warning("instance_not_logged_out", error=error)
            return False
        return True

    async def remove(self, instance: str, access: GatewayAccess) -> bool:
        """An instance that is gone needs no removing."""
        try:
            await self.patient.delete(_target(instance, access))
        except InstanceNotFoundError:
            return True
        except InstanceCallError as error:
            logger.warning("instance_not_removed", error=error)
            return False
        return True

    def _home(self) -> GatewayAccess:
        if self.home is None:
            raise RefusedError(Refusal.PROVIDER_NOT_CONFIGURED)
        return self.home

    async def _point(self, instance: str, access: GatewayAccess) -> None:
        if self.ingest_url is None:
            return
        async with _translated():
            await self.quick.set_webhook(_target(instance, access), url=own_url(self.ingest_url, instance))


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    try:
        yield
    except InstanceTimeoutError as error:
        raise RefusedError(Refusal.UPSTREAM_TIMEOUT) from error
    except GatewayAccessDeniedError as error:
        logger.warning("gateway_denies_access", error=error)
        raise RefusedError(Refusal.PROVIDER_NOT_CONFIGURED) from error
    except InstanceCallError as error:
        logger.warning("gateway_call_failed", error=error)
        raise RefusedError(Refusal.UPSTREAM_ERROR) from error


def _target(instance: str, access: GatewayAccess) -> Access:
    return Access(base_url=access.base_url, api_key=access.api_key, instance=instance)


def _pairing(pairing: EvolutionPairing) -> Pairing:
    state = ConnectionState(pairing.state.value) if pairing.state else None
    return Pairing(state=state, qr_code=pairing.qr_code, code=pairing.code)
