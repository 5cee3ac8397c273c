"""What several resources of the api share: authentication, the way to ask other services, and stages to run."""

from api.access.domain import Caller
from api.access.schemas import tell_rate
from api.access.usecases import Authenticate, RememberUses
from api.operators.domain import KnownOperator
from api.operators.usecases.authenticate import AuthenticateOperator
from api.settings import Settings
from chassis.clock import utc_now
from chassis.foundation import Foundation
from chassis.loop import Loop
from chassis.questions import Asker
from chassis.runner import Stage
from chassis.topology import Topology
from chassis.ttl_cache import TtlCache
from contracts.registry import API
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES

USES_STEP_SECONDS = 2
TOPOLOGY = Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS)


class Parts:
    """Built once; each resource takes what it needs and adds its own stages."""

    def __init__(self, settings: Settings, foundation: Foundation) -> None:
        self.settings, self.foundation = settings, foundation
        self.database, self.broker = foundation.database, foundation.broker
        self.keys, self.pepper = settings.key_ring(), settings.pepper()
        self.asker = Asker(settings.broker_url.get_secret_value(), service=API)
        uses = RememberUses(database=self.database, clock=utc_now)
        callers: TtlCache[str, Caller] = TtlCache(ttl_seconds=settings.configuration_ttl_seconds)
        self.authenticate = Authenticate(database=self.database, callers=callers, told=tell_rate, used=uses.saw)
        known: TtlCache[str, KnownOperator] = TtlCache(ttl_seconds=settings.configuration_ttl_seconds)
        self.authenticate_operator = AuthenticateOperator(
            database=self.database, known=known, environment_key=settings.operator_key.get_secret_value()
        )
        self.stages: list[Stage] = [self.asker, Loop("key-uses", uses.step, interval_seconds=USES_STEP_SECONDS)]
