"""What operators do with dead letters: replay and discard; each letter is decided about while it is locked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from prometheus_client import Counter

from chassis.database import Database, Transaction
from chassis.seal import KeyRing
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from contracts.repair_questions import (
    DeadLettersSettled,
    DiscardDeadLetters,
    KeptLetter,
    LetterState,
    ReplayDeadLetters,
)
from reconciler.domain.letters import Replay, decide_replay, not_found, not_waiting
from reconciler.store import dead_letters, replaying
from reconciler.usecases.read_letters import opened

logger = get_logger(__name__)

settled_total = Counter(
    "pilot_reconciler_dead_letters_settled_total",
    "Dead letters that were replayed, discarded, or asked for and kept as they were.",
    ["outcome"],
    registry=registry,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleLetters:
    """A replay leaves through the outbox: letter and publication are one commit."""

    database: Database
    key_ring: KeyRing
    clock: Callable[[], datetime]

    async def replay(self, asked: ReplayDeadLetters) -> DeadLettersSettled:
        """These letters, or the next waiting ones of a kind."""
        async with self.database.transaction() as tx:
            if asked.letter_ids:
                rows = await dead_letters.lock_dead_letters(tx, asked.letter_ids)
            else:
                rows = await dead_letters.lock_waiting(tx, asked)
            decided = [decide_replay(opened(row, self.key_ring), self.key_ring.check, now=self.clock()) for row in rows]
            replays = [one for one in decided if isinstance(one, Replay)]
            await self._put_back(tx, replays)
        kept = [one for one in decided if isinstance(one, KeptLetter)] + _missing(asked.letter_ids, rows)
        more = not asked.letter_ids and len(rows) == asked.limit
        return _settled("replayed", [one.letter_id for one in replays], kept, last=rows[-1].number if more else None)

    async def discard(self, asked: DiscardDeadLetters) -> DeadLettersSettled:
        """Only what still waits: what was put back may be on its way."""
        async with self.database.transaction() as tx:
            rows = await dead_letters.lock_dead_letters(tx, asked.letter_ids)
            waiting = [row.id for row in rows if row.state == LetterState.WAITING.value]
            await dead_letters.settle_dead_letters(
                tx, waiting, LetterState.DISCARDED, note=asked.reason, now=self.clock()
            )
        kept = [not_waiting(dead_letters.told(row)) for row in rows if row.id not in waiting]
        return _settled("discarded", waiting, kept + _missing(asked.letter_ids, rows), last=None)

    async def _put_back(self, tx: Transaction, replays: Sequence[Replay]) -> None:
        if not replays:
            return
        await replaying.put_back(tx, replays)
        ids = [one.letter_id for one in replays]
        await dead_letters.settle_dead_letters(tx, ids, LetterState.REPLAYED, note=None, now=self.clock())


def _missing(asked: Sequence[Any], rows: Sequence[Any]) -> list[KeptLetter]:
    found = {row.id for row in rows}
    return [not_found(letter_id) for letter_id in dict.fromkeys(asked) if letter_id not in found]


def _settled(
    outcome: str, settled: Sequence[Any], kept: Sequence[KeptLetter], *, last: int | None
) -> DeadLettersSettled:
    settled_total.labels(outcome=outcome).inc(len(settled))
    settled_total.labels(outcome="kept").inc(len(kept))
    logger.info("dead_letters_settled", outcome=outcome, count=len(settled))
    return DeadLettersSettled(settled=tuple(settled), kept=tuple(kept), last=last)
