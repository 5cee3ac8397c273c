"""The api's own hands on the broker and on the gateway's instance endpoints, for the moment a number is registered."""

from dataclasses import dataclass

from chassis.amqp import BROKER_TROUBLE
from chassis.telemetry.logs import get_logger
from chassis.topology import Topology, declare
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, lane_queue
from contracts.values import GatewayAccess
from gateways.evolution.instances import EvolutionInstances, InstanceCallError
from gateways.evolution.webhook_address import own_url
from gateways.port import Access

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLanes:
    """Declares lane queues over a connection of the moment."""

    broker_url: str

    async def declare(self, instance: str) -> bool:
        """False if the broker is away."""
        topology = Topology(
            exchanges=EXCHANGES, queues=(lane_queue(instance),), dead_exchange=DEAD, dead_queue=DEAD_LETTERS
        )
        try:
            await declare(self.broker_url, topology, name="api:declare")
        except BROKER_TROUBLE as error:
            logger.warning("lane_not_declared", error=error)
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionWebhooks:
    """Points an Evolution instance's webhooks at its own address of status-ingest, if that is configured."""

    instances: EvolutionInstances
    ingest_url: str | None

    async def point(self, instance: str, access: GatewayAccess) -> bool:
        """False if there is no address to give, or the gateway would not take it."""
        if self.ingest_url is None:
            return False
        target = Access(base_url=access.base_url, api_key=access.api_key, instance=instance)
        try:
            await self.instances.set_webhook(target, url=own_url(self.ingest_url, instance))
        except InstanceCallError as error:
            logger.warning("gateway_webhook_not_set", error=error)
            return False
        return True
