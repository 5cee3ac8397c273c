"""What the api hears about endpoints: that one was switched off, which people on call can be told of."""

from prometheus_client import Counter

from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from contracts.facts import EndpointDisabled
from contracts.registry import UnreadableError
from contracts.topology import API_ENDPOINTS

logger = get_logger(__name__)

PREFETCH = 10

disabled_total = Counter(
    "pilot_api_webhooks_disabled_total", "Customers' webhooks switched off by reason", ["reason"], registry=registry
)


def subscribe(broker: Broker) -> None:
    """Register the handler."""

    async def hear(heard: Heard) -> None:
        fact = heard.statement
        if not isinstance(fact, EndpointDisabled):
            raise UnreadableError("not about an endpoint")
        disabled_total.labels(reason=fact.reason.lower()).inc()
        logger.warning(
            "webhook_disabled",
            endpoint_id=fact.endpoint_id,
            tenant_id=fact.tenant_id,
            number_id=fact.number_id,
            reason=fact.reason,
        )

    broker.hear(API_ENDPOINTS, hear, prefetch=PREFETCH)
