"""Dead letters for operators: the reconciler owns them, shows them, and decides about each."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.refusals import Refusal, RefusedError
from api.repair.usecases.asking import RepairQuestions, expected
from contracts.questions import Rejected
from contracts.repair_questions import (
    LETTERS_MAX,
    DeadLetterExplained,
    DeadLetters,
    DeadLettersSettled,
    DiscardDeadLetters,
    FindDeadLetter,
    KeptLetter,
    ListDeadLetters,
    ReplayDeadLetters,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What came of a request about many letters; `is_more` if others of the kind were not looked at yet."""

    settled: Sequence[UUID]
    kept: Sequence[KeptLetter]
    is_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDeadLetters:
    """Lists and explains; nothing of a letter's content is asked for."""

    questions: RepairQuestions

    async def page(self, wanted: ListDeadLetters) -> DeadLetters:
        """Latest filed first."""
        return expected(await self.questions.ask(wanted), DeadLetters)

    async def one(self, letter_id: UUID) -> DeadLetterExplained:
        """Raises `RefusedError(DEAD_LETTER_NOT_FOUND)`."""
        answer = await self.questions.ask(FindDeadLetter(letter_id=letter_id))
        if isinstance(answer, Rejected):
            raise RefusedError(Refusal.DEAD_LETTER_NOT_FOUND)
        return expected(answer, DeadLetterExplained)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleDeadLetters:
    """Replays and discards. Repeating a request is harmless: what was settled is kept, and said so."""

    questions: RepairQuestions

    async def replay_one(self, letter_id: UUID) -> None:
        """Raises `RefusedError`: DEAD_LETTER_NOT_FOUND, or DEAD_LETTER_KEPT with the reason."""
        _only(await self.replay_these([letter_id]))

    async def replay_these(self, letter_ids: Sequence[UUID]) -> Settled:
        """At most `LETTERS_MAX` of them."""
        return await self._settle(ReplayDeadLetters(letter_ids=tuple(letter_ids)))

    async def replay_kind(self, *, queue: str | None, reason: str | None, type: str | None, limit: int) -> Settled:
        """Waiting letters of a kind, oldest first, up to `limit` looked at."""
        settled: list[UUID] = []
        kept: list[KeptLetter] = []
        after: int | None = None
        while (left := limit - len(settled) - len(kept)) > 0:
            step = ReplayDeadLetters(queue=queue, reason=reason, type=type, after=after, limit=min(left, LETTERS_MAX))
            answer = expected(await self.questions.ask(step), DeadLettersSettled)
            settled += answer.settled
            kept += answer.kept
            after = answer.last
            if after is None:
                break
        return Settled(settled=settled, kept=kept, is_more=after is not None)

    async def discard_one(self, letter_id: UUID, *, reason: str) -> None:
        """Raises `RefusedError`: DEAD_LETTER_NOT_FOUND, or DEAD_LETTER_KEPT with the reason."""
        _only(await self.discard_these([letter_id], reason=reason))

    async def discard_these(self, letter_ids: Sequence[UUID], *, reason: str) -> Settled:
        """At most `LETTERS_MAX` of them."""
        return await self._settle(DiscardDeadLetters(letter_ids=tuple(letter_ids), reason=reason))

    async def _settle(self, asked: ReplayDeadLetters | DiscardDeadLetters) -> Settled:
        answer = expected(await self.questions.ask(asked), DeadLettersSettled)
        return Settled(settled=answer.settled, kept=answer.kept)


def _only(done: Settled) -> None:
    for kept in done.kept:
        if kept.code == "NOT_FOUND":
            raise RefusedError(Refusal.DEAD_LETTER_NOT_FOUND)
        raise RefusedError(Refusal.DEAD_LETTER_KEPT, kept.sentence, extras={"reason": kept.code})
