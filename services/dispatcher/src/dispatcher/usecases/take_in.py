"""Messages enter: each becomes a job, once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chassis.database import Database, Transaction
from chassis.group_commit import GroupCommit
from contracts.commands import RequeueMessage
from contracts.facts import MessageAccepted
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import resolution_window
from dispatcher.domain.whereabouts import fact_of_whereabouts
from dispatcher.store import intake, whereabouts
from dispatcher.store.instant import instant
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import TAKEN_IN

JOB_LOST = "JOB_LOST"


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertJobs:
    """The `write` of the intake's group commit: batches of many lanes in one statement."""

    clock: Clock = None

    async def __call__(self, tx: Transaction, batches: Sequence[Sequence[MessageAccepted]]) -> Sequence[int]:
        """How many of each batch are new; repeats are harmless."""
        accepted = [fact for batch in batches for fact in batch]
        new = await intake.insert_jobs(tx, accepted, now=given(self.clock))
        return [sum((fact.ref.message_id, fact.ref.round) in new for fact in batch) for batch in batches]


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeIn:
    """Turn accepted messages into jobs; `wake` is called after the commit."""

    commits: GroupCommit[Sequence[MessageAccepted], int]
    wake: Callable[[], None]

    async def __call__(self, accepted: Sequence[MessageAccepted]) -> None:
        """Returns after the commit that holds all of them."""
        new = await self.commits.submit(accepted)
        if new:
            TAKEN_IN.inc(new)
            self.wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateMessage:
    """Put a message to work unless it already is, and say where its job is."""

    database: Database
    rules: Rules
    wake: Callable[[], None]
    clock: Clock = None

    async def __call__(self, command: RequeueMessage) -> None:
        """The answer is the fact about the job's state, new or old."""
        async with self.database.transaction() as tx:
            is_new = await self._insert(tx, command)
            found = await whereabouts.locate(tx, command.accepted.ref)
            if found is not None:
                tx.emit(fact_of_whereabouts(found))
        if is_new:
            TAKEN_IN.inc()
            self.wake()

    async def _insert(self, tx: Transaction, command: RequeueMessage) -> bool:
        accepted = command.accepted
        if not command.possibly_sent:
            return bool(await intake.insert_jobs(tx, [accepted], now=given(self.clock)))
        now = await instant(tx, given(self.clock))
        after, by = resolution_window(
            category=accepted.ref.category, started_at=now, deliver_until=accepted.deliver_until, rules=self.rules
        )
        return await intake.insert_suspect(tx, accepted, reason=JOB_LOST, resolve_after=after, resolve_by=by, now=now)
