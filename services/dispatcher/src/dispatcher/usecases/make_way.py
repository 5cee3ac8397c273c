"""A message comes in another round: nothing of its earlier ones is sent any more, and it is known if something was."""

from collections.abc import Sequence
from dataclasses import dataclass

from chassis.database import Database
from contracts.facts import MessageAccepted
from dispatcher.store import recovery
from dispatcher.usecases.clock import Clock, given


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeWay:
    """A transaction of its own before the intake's: it may be repeated, and locks no lane."""

    database: Database
    clock: Clock = None

    async def __call__(self, accepted: Sequence[MessageAccepted]) -> Sequence[MessageAccepted]:
        """The messages, flagged where an earlier round may have been sent; first rounds cost nothing."""
        later = [(fact.ref.message_id, fact.ref.round) for fact in accepted if fact.ref.round > 1]
        if not later:
            return accepted
        async with self.database.transaction() as tx:
            possible = await recovery.close_earlier(tx, later, now=given(self.clock))
        return [
            fact.model_copy(update={"duplicate_possible": True})
            if (fact.ref.message_id, fact.ref.round) in possible
            else fact
            for fact in accepted
        ]
