"""What several resources of the api share: authentication, the way to ask other services, and stages to run."""

from api.access.domain import Caller
from api.access.usecases import Authenticate
from api.settings import Settings
from chassis.foundation import Foundation
from chassis.questions import Asker
from chassis.runner import Stage
from chassis.topology import Topology
from chassis.ttl_cache import TtlCache
from contracts.registry import API
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES

TOPOLOGY = Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS)


class Parts:
    """Built once; each resource takes what it needs and adds its own stages."""

    def __init__(self, settings: Settings, foundation: Foundation) -> None:
        self.settings, self.foundation = settings, foundation
        self.database, self.broker = foundation.database, foundation.broker
        self.keys, self.pepper = settings.key_ring(), settings.pepper()
        self.asker = Asker(settings.broker_url.get_secret_value(), service=API)
        callers: TtlCache[str, Caller] = TtlCache(ttl_seconds=settings.configuration_ttl_seconds)
        self.authenticate = Authenticate(database=self.database, callers=callers)
        self.stages: list[Stage] = [self.asker]
