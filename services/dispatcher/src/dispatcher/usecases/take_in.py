"""Messages enter: each becomes a job, once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chassis.database import Database, Transaction
from chassis.group_commit import GroupCommit
from contracts.commands import RequeueMessage
from contracts.facts import MessageAccepted
from dispatcher.domain.jobs import JobKey, JobState
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import resolution_window
from dispatcher.domain.whereabouts import fact_of_whereabouts
from dispatcher.store import intake, recovery, whereabouts
from dispatcher.store.instant import instant
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.make_way import MakeWay
from dispatcher.usecases.measures import TAKEN_IN, TIMED_OUT
from dispatcher.usecases.recover import Outages, tell_timed_out

JOB_LOST = "JOB_LOST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """How many jobs are new, and how many of them wait for their time or their number."""

    new: int
    scheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertJobs:
    """The `write` of the intake's group commit: batches of many lanes in one statement."""

    outages: Outages | None = None
    clock: Clock = None

    async def __call__(self, tx: Transaction, batches: Sequence[Sequence[MessageAccepted]]) -> Sequence[Inserted]:
        """What of each batch is new; repeats are harmless. What fell due too long ago in an outage fails at once."""
        on_time: list[MessageAccepted] = []
        late: list[MessageAccepted] = []
        for fact in (fact for batch in batches for fact in batch):
            is_late = self.outages is not None and self.outages.is_stale(fact)
            (late if is_late else on_time).append(fact)
        if late:
            tell_timed_out(tx, await recovery.insert_failed(tx, late, now=given(self.clock)))
        new = await _insert(tx, on_time, self.clock) if on_time else {}
        return [_inserted(batch, new) for batch in batches]


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeIn:
    """Turn accepted messages into jobs. After the commit `wake` is called, and `wake_promoting` if some must wait."""

    commits: GroupCommit[Sequence[MessageAccepted], Inserted]
    wake: Callable[[], None]
    wake_promoting: Callable[[], None]
    make_way: MakeWay | None = None
    outages: Outages | None = None

    async def __call__(self, accepted: Sequence[MessageAccepted]) -> None:
        """Returns after the commit that holds all of them; begins once it is known whether nobody was at work."""
        if self.outages is not None:
            await self.outages.known_by_now()
        if self.make_way is not None:
            accepted = await self.make_way(accepted)
        inserted = await self.commits.submit(accepted)
        TAKEN_IN.inc(inserted.new)
        if inserted.new > inserted.scheduled:
            self.wake()
        if inserted.scheduled:
            self.wake_promoting()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateMessage:
    """Put a message to work unless it already is, and say where its job is."""

    database: Database
    rules: Rules
    wake: Callable[[], None]
    make_way: MakeWay | None = None
    outages: Outages | None = None
    clock: Clock = None

    async def __call__(self, command: RequeueMessage) -> None:
        """The answer is the fact about the job's state, new or old. What was lost for too long is not sent late.

        What a memory that was lost in a restore may have sent comes back as uncertain.
        """
        if self.outages is not None:
            await self.outages.known_by_now()
            if self.outages.may_have_left(command.accepted):
                command = command.model_copy(update={"possibly_sent": True})
        if self.make_way is not None:
            [accepted] = await self.make_way([command.accepted])
            command = command.model_copy(update={"accepted": accepted})
        async with self.database.transaction() as tx:
            is_new = await self._put_to_work(tx, command)
            found = await whereabouts.locate(tx, command.accepted.ref, now=given(self.clock))
            if found is not None:
                tx.emit(fact_of_whereabouts(found))
        if is_new:
            TAKEN_IN.inc()
            self.wake()

    async def _put_to_work(self, tx: Transaction, command: RequeueMessage) -> bool:
        now = await instant(tx, given(self.clock))
        if not command.possibly_sent and self.outages is not None and self.outages.is_overdue(command.accepted, now):
            TIMED_OUT.inc(len(await recovery.insert_failed(tx, [command.accepted], now=given(self.clock))))
            return False
        return await self._insert(tx, command)

    async def _insert(self, tx: Transaction, command: RequeueMessage) -> bool:
        accepted = command.accepted
        if not command.possibly_sent:
            return bool(await _insert(tx, [accepted], self.clock))
        now = await instant(tx, given(self.clock))
        after, by = resolution_window(
            category=accepted.ref.category, started_at=now, deliver_until=accepted.deliver_until, rules=self.rules
        )
        return await intake.insert_suspect(tx, accepted, reason=JOB_LOST, resolve_after=after, resolve_by=by, now=now)


async def _insert(tx: Transaction, accepted: Sequence[MessageAccepted], clock: Clock) -> Mapping[JobKey, JobState]:
    await intake.lock_lanes(tx, [fact.ref.instance for fact in accepted])
    return await intake.insert_jobs(tx, accepted, now=given(clock))


def _inserted(batch: Sequence[MessageAccepted], new: Mapping[JobKey, JobState]) -> Inserted:
    states = [new[key] for fact in batch if (key := (fact.ref.message_id, fact.ref.round)) in new]
    return Inserted(new=len(states), scheduled=states.count(JobState.SCHEDULED))
