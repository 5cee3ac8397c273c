"""What the api hears about numbers."""

from api.numbers.usecases import FollowConnection
from chassis.broker import Broker
from chassis.deliveries import Heard
from contracts.facts import NumberConnectionChanged
from contracts.topology import API_NUMBERS


def subscribe(broker: Broker, follow: FollowConnection) -> None:
    """Register the handlers."""

    async def hear(heard: Heard) -> None:
        if isinstance(heard.statement, NumberConnectionChanged):
            await follow.follow(heard.statement)

    broker.hear(API_NUMBERS, hear, prefetch=20)
