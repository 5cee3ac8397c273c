"""Connecting a number: what to scan, and everything prepared for the moment it is scanned."""

from dataclasses import dataclass
from uuid import UUID

from api.access.domain import Caller
from api.numbers.store import record_connection
from api.numbers.usecases import LaneDeclarer, sealed_profile
from api.own_numbers.domain import Pairing
from api.own_numbers.usecases.gateway import Gateway, access_of
from api.own_numbers.usecases.show_numbers import ShowNumbers
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from contracts.values import ConnectionState


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectNumber:
    """Also repairs what a crash during creation, or a gateway that lost the instance, left behind."""

    database: Database
    keys: KeyRing
    numbers: ShowNumbers
    gateway: Gateway
    lanes: LaneDeclarer
    clock: Clock

    async def connect(self, caller: Caller, number_id: UUID) -> Pairing:
        """Raises `RefusedError(NUMBER_ALREADY_CONNECTED)` if there is nothing to do."""
        number = await self.numbers.find(caller, number_id)
        pairing = await self.gateway.connect(number.instance, access_of(number, self.keys), phone=number.phone)
        async with self.database.transaction() as tx:
            # the same version: news only to those who never heard of it
            tx.emit(number.configured(self.clock(), sealed_profile=sealed_profile(number, self.keys)))
            if pairing.state is ConnectionState.OPEN:
                await record_connection(
                    tx, instance=number.instance, state=ConnectionState.OPEN, observed_at=self.clock()
                )
        if pairing.state is ConnectionState.OPEN:
            raise RefusedError(Refusal.NUMBER_ALREADY_CONNECTED)
        await self.lanes.declare(number.instance)
        return pairing
