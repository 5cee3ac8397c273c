"""Writes what came of attempts, many in one transaction: jobs, lanes and facts leave together."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chassis.database import Transaction
from dispatcher.domain.facts import fact_of
from dispatcher.domain.lanes import announcement, settled
from dispatcher.domain.verdicts import Dispatched
from dispatcher.store import echoes, lanes, settling
from dispatcher.store.settling import Settlement
from dispatcher.usecases.measures import CONNECTION_CHANGES


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleAttempts:
    """The `write` of the settling group commit."""

    dice: Callable[[], float]

    async def __call__(self, tx: Transaction, settlements: Sequence[Settlement]) -> Sequence[bool]:
        """True for each attempt that was still ours to settle."""
        moved = await settling.settle(tx, settlements)
        ours = [settlement.attempt.key in moved for settlement in settlements]
        done = [settlement for settlement, is_ours in zip(settlements, ours, strict=True) if is_ours]
        if done:
            await self._settle_lanes(tx, done)
        for settlement in done:
            fact = fact_of(settlement.attempt, settlement.verdict, now=settlement.ended_at)
            if fact is not None:
                tx.emit(fact)
        await _keep_late_answers(
            tx, [settlement for settlement, is_ours in zip(settlements, ours, strict=True) if not is_ours]
        )
        return ours

    async def _settle_lanes(self, tx: Transaction, done: Sequence[Settlement]) -> None:
        ended = Counter(settlement.attempt.ref.instance for settlement in done)
        now = max(settlement.ended_at for settlement in done)
        before = await lanes.lock(tx, ended)
        after = [
            settled(
                connection,
                [one.verdict for one in done if one.attempt.ref.instance == connection.instance],
                now=now,
                dice=self.dice(),
            )
            for connection in before
        ]
        await lanes.save(tx, after, ended=ended)
        for old, new in zip(before, after, strict=True):
            news = announcement(old, new)
            if news is not None:
                CONNECTION_CHANGES.labels(state=news.state.value).inc()
                tx.emit(news)


async def _keep_late_answers(tx: Transaction, fenced: Sequence[Settlement]) -> None:
    answers = [(one.attempt, one.verdict.key_id) for one in fenced if isinstance(one.verdict, Dispatched)]
    if answers:
        await echoes.insert_late_answers(tx, answers, now=max(one.ended_at for one in fenced))
