"""How the messages of a number may be sent: what its policy wants, its gateway can and its answers have shown."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from chassis.telemetry.logs import get_logger
from contracts.parts import Buttons, ListMenu, Media
from contracts.sending import ChoiceStyle
from contracts.values import PacingPolicy
from dispatcher.domain.outbound import ids_are_reserved
from dispatcher.usecases.measures import RESERVED_IDS
from gateways.port import Abilities, Access, Answer, Inspector, Outbound, Taken

logger = get_logger(__name__)

NOT_HONOURED_SECONDS = 3_600.0
"""Then a number is offered reserved ids again: its gateway may have been renewed meanwhile."""

NUMBERS_MAX = 10_000


@dataclass(slots=True, kw_only=True)
class Manners:
    """Remembers, in this process, which numbers did not honour a reserved id. Without an inspector nothing is known."""

    inspector: Inspector | None = None
    monotonic: Callable[[], float] = time.monotonic
    _dishonoured_until: OrderedDict[str, float] = field(default_factory=OrderedDict)

    async def abilities(
        self, access: Access, policy: PacingPolicy, part: Media | Buttons | ListMenu | None
    ) -> Abilities:
        """What may be relied on for this message; the gateway is asked only if that decides anything."""
        has_choices = isinstance(part, Buttons | ListMenu) and policy.sending.choices is ChoiceStyle.AUTO
        if self.inspector is None or not (has_choices or policy.sending.reserve_ids is None):
            return Abilities()
        return await self.inspector.abilities(access)

    async def reserves(self, access: Access, policy: PacingPolicy) -> bool:
        """Whether a message of this number can be looked for by its reserved id."""
        if self._is_dishonoured(access.instance):
            return False
        return ids_are_reserved(policy, await self.abilities(access, policy, None))

    def adapted(self, outbound: Outbound) -> Outbound:
        """The message without an id that its number would not honour."""
        return replace(outbound, reserved_id=None) if self._is_dishonoured(outbound.access.instance) else outbound

    def learn(self, access: Access, answer: Answer) -> None:
        """Whether a reserved id became the message's own."""
        if not isinstance(answer, Taken) or answer.id_honoured is None:
            return
        RESERVED_IDS.labels(honoured="yes" if answer.id_honoured else "no").inc()
        if answer.id_honoured:
            self._dishonoured_until.pop(access.instance, None)
            return
        logger.warning("reserved_id_not_honoured", instance=access.instance)
        self._dishonoured_until[access.instance] = self.monotonic() + NOT_HONOURED_SECONDS
        self._dishonoured_until.move_to_end(access.instance)
        while len(self._dishonoured_until) > NUMBERS_MAX:
            self._dishonoured_until.popitem(last=False)

    def _is_dishonoured(self, instance: str) -> bool:
        return self.monotonic() < self._dishonoured_until.get(instance, 0.0)
