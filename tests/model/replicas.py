"""Dispatchers as attempts in hand: what a process has claimed, is calling for, and forgets when it dies."""

import asyncio
from dataclasses import dataclass, field

from tests.integration.dispatcher.fleet import Replica as Starter
from tests.integration.dispatcher.rig import Rig
from tests.integration.dispatcher.sealing import KEYS
from tests.model.truth import Call, Door, Truth

from chassis.group_commit import GroupCommit
from contracts.facts import MessageAccepted
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.verdicts import Verdict
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.leases import LeaseBook
from dispatcher.usecases.settle_attempts import SettleAttempts
from gateways.port import Answer


@dataclass(eq=False, slots=True)
class Replica:
    """One process. `claimed` are attempts that it has not begun to carry out."""

    rig: Rig
    truth: Truth
    claimed: list[tuple[Attempt, float]] = field(default_factory=list)
    calling: dict[Call, "asyncio.Task[Verdict]"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reborn()

    def reborn(self) -> None:
        """A fresh process: nothing is remembered but what is in the database."""
        self.rig.book = LeaseBook(self.rig.rules.lease, monotonic=self.monotonic)
        self.rig.settling = GroupCommit(
            self.rig.database, SettleAttempts(dice=self.rig.roll, clock=self.rig.now), linger_ms=0
        )

    def monotonic(self) -> float:
        """The model's clock, in seconds."""
        return self.rig.now().timestamp()

    async def take_in(self, accepted: MessageAccepted) -> None:
        """A delivery from the lane's queue."""
        starter = Starter(self.rig, sla=None)
        starter.outages.settled.set()
        await starter.take_in(accepted)

    async def requeue(self, accepted: MessageAccepted, *, possibly_sent: bool) -> None:
        """A command of the reconciler."""
        starter = Starter(self.rig, sla=None)
        starter.outages.settled.set()
        await starter.requeue(accepted, possibly_sent=possibly_sent)

    async def claim(self, capacity: int) -> None:
        """One pass of the claim; the attempts are in hand afterwards."""
        claimed = await self.rig.claim_only(capacity)
        self.claimed += [(attempt, self.monotonic()) for attempt in claimed.attempts]

    async def begin(self) -> None:
        """Carry out what was claimed first, until it either calls or is given back."""
        attempt, claimed_at = self.claimed.pop(0)
        carry = CarryOut(
            sender=Door(self.truth, attempt.key),
            keys=KEYS,
            book=self.rig.book,
            rules=self.rig.rules,
            settling=self.rig.settling,
            dice=self.rig.roll,
        )
        self.truth.began.clear()
        task = asyncio.create_task(carry(attempt, claimed_at))
        began = asyncio.create_task(self.truth.began.wait())
        await asyncio.wait({task, began}, return_when=asyncio.FIRST_COMPLETED)
        began.cancel()
        if task.done():
            await task
        else:
            self.calling[self.truth.calls[-1]] = task

    async def finish(self, call: Call, answer: Answer) -> None:
        """The answer arrives and is settled, or fenced off."""
        call.answer.set_result(answer)
        await self.calling.pop(call)

    async def die(self) -> None:
        """Nobody waits for answers any more; what was asked of the gateway goes on there."""
        for task in self.calling.values():
            task.cancel()
        await asyncio.gather(*self.calling.values(), return_exceptions=True)
        self.calling.clear()
        self.claimed.clear()
        self.reborn()
