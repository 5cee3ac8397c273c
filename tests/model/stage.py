"""What the model plays on, and what of it a rule may choose from."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from tests.integration.dispatcher.gateway import Gateway
from tests.integration.dispatcher.rig import FAST, Now, Rig
from tests.model.books import Books
from tests.model.replicas import Replica
from tests.model.truth import Call, Truth

from contracts.facts import MessageAccepted, MessageDispatchFailed
from dispatcher.domain.jobs import JobKey
from gateways.port import Answer, NotSent, NotSentReason, RefusalCode, Refused

REPLICAS = 3
POLICY = FAST.model_copy(update={"max_in_flight": 3})
NOT_CARRIED_OUT: tuple[Answer, ...] = (
    NotSent(reason=NotSentReason.RATE_LIMITED),
    NotSent(reason=NotSentReason.DISCONNECTED),
    Refused(code=RefusalCode.WHATSAPP_NOT_EXIST),
)
QUIET_STEPS = ((15.0, 12), (60.0, 20), (300.0, 40))
"""When faults are over: seconds that pass at a time, and how often."""

replicas = st.integers(0, REPLICAS - 1)
choices = st.integers(0, 99)
mostly = st.sampled_from([True, True, True, False])
rarely = st.sampled_from([False, False, False, True])


class Fate(StrEnum):
    """What becomes of an example's first call."""

    TAKEN = "taken"
    NOT_SENT = "not sent"
    REFUSED = "refused for good, and another round"
    SENT_UNTOLD = "sent untold"
    DROPPED_UNTOLD = "dropped untold"
    GIVEN_UP = "given up before the gateway decided, on a number that is heard"
    CRASHED = "crashed"
    OPEN = "open"


@dataclass(slots=True)
class Stage:
    """What all examples share: an event loop, a schema and how often each thing happened."""

    loop: asyncio.AbstractEventLoop
    url: str
    happened: dict[str, int] = field(default_factory=dict)
    rigs: list[Rig] = field(default_factory=list)
    now: Now = field(default_factory=Now)

    def __post_init__(self) -> None:
        self.rigs = [Rig(self.url, self.now, Gateway(self.now)) for _ in range(REPLICAS)]

    def note(self, what: str, times: int = 1) -> None:
        """So that a model in which nothing goes wrong is noticed."""
        self.happened[what] = self.happened.get(what, 0) + times


class Choices(RuleBasedStateMachine):
    """Everything that there is at one moment of an example."""

    now: Now
    truth: Truth
    books: Books
    replicas: list[Replica]

    def promise(self, chosen: int) -> MessageAccepted:
        accepted: MessageAccepted = one(list(self.books.promised.values()), chosen)
        return accepted

    def decide(self, call: Call, is_sent: bool) -> None:
        (self.truth.carry_out if is_sent else self.truth.drop)(call)

    def claimers(self) -> list[Replica]:
        return [replica for replica in self.replicas if replica.claimed]

    def busy(self) -> list[Replica]:
        return [replica for replica in self.replicas if replica.claimed or replica.calling]

    def reprocessable(self) -> list[JobKey]:
        failed = [key for key, end in self.books.finals.items() if isinstance(end, MessageDispatchFailed)]
        return [key for key in failed if (key[0], key[1] + 1) not in self.books.promised and key[1] < 3]

    def under_way(self) -> list[tuple[Replica, Call]]:
        return [(replica, call) for replica in self.replicas for call in replica.calling]

    def echoes_due(self) -> list[Call]:
        return [call for call in self.truth.sent() if call.is_echo_due]

    def named(self) -> list[tuple[JobKey, str]]:
        return [(key, end.key_id) for key, end in self.books.finals.items() if hasattr(end, "key_id")]


def one(of: list[Any], chosen: int) -> Any:
    """The chosen one of however many there are."""
    return of[chosen % len(of)]
