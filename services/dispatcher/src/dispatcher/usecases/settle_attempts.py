"""Writes what came of attempts, many in one transaction: jobs, lanes and facts leave together."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chassis.database import Transaction
from dispatcher.domain.facts import fact_of
from dispatcher.domain.lanes import settled
from dispatcher.domain.verdicts import Dispatched
from dispatcher.store import echoes, lanes, settling
from dispatcher.store.settling import Settlement
from dispatcher.usecases.announce import announce
from dispatcher.usecases.clock import Clock, given


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleAttempts:
    """The `write` of the settling group commit."""

    dice: Callable[[], float]
    clock: Clock = None

    async def __call__(self, tx: Transaction, settlements: Sequence[Settlement]) -> Sequence[bool]:
        """True for each attempt that was still ours to settle."""
        moved = await settling.settle(tx, settlements)
        ours = [settlement.attempt.lease_token in moved for settlement in settlements]
        done = [settlement for settlement, is_ours in zip(settlements, ours, strict=True) if is_ours]
        if done:
            held = Counter(one.attempt.ref.instance for one in done if moved[one.attempt.lease_token])
            await self._settle_lanes(tx, done, ended=held)
        for settlement in done:
            fact = fact_of(settlement.attempt, settlement.verdict, now=settlement.ended_at)
            if fact is not None:
                tx.emit(fact)
        await _keep_late_answers(
            tx, [settlement for settlement, is_ours in zip(settlements, ours, strict=True) if not is_ours]
        )
        return ours

    async def _settle_lanes(self, tx: Transaction, done: Sequence[Settlement], *, ended: Mapping[str, int]) -> None:
        now = max(settlement.ended_at for settlement in done)
        before = await lanes.lock(tx, {settlement.attempt.ref.instance for settlement in done})
        after = [
            settled(
                connection,
                [one.verdict for one in done if one.attempt.ref.instance == connection.instance],
                now=now,
                dice=self.dice(),
            )
            for connection in before
        ]
        await lanes.save(tx, after, ended=ended, now=given(self.clock))
        announce(tx, zip(before, after, strict=True))


async def _keep_late_answers(tx: Transaction, fenced: Sequence[Settlement]) -> None:
    answers = [(one.attempt, one.verdict.key_id) for one in fenced if isinstance(one.verdict, Dispatched)]
    if answers:
        await echoes.insert_late_answers(tx, answers, now=max(one.ended_at for one in fenced))
