"""Describing a number's lane; the dispatcher answers."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from api.numbers.store import find_number
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from contracts.dispatch_questions import DescribeLane, LaneDescribed
from contracts.questions import Question
from contracts.statement import Statement


class DispatcherQuestions(Protocol):
    """Asks the dispatcher; raises `RefusedError(OWNER_UNAVAILABLE)` if it keeps silent."""

    async def ask(self, question: Question) -> Statement: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeNumber:
    """For operators: a lane is shared by tenants."""

    database: Database
    questions: DispatcherQuestions

    async def describe(self, number_id: UUID) -> LaneDescribed:
        """Raises `RefusedError`: NUMBER_NOT_FOUND or OWNER_UNAVAILABLE."""
        async with self.database.transaction() as tx:
            number = await find_number(tx, number_id)
        if number is None:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND)
        answer = await self.questions.ask(DescribeLane(instance=number.instance))
        if not isinstance(answer, LaneDescribed):
            raise RefusedError(Refusal.OWNER_UNAVAILABLE)
        return answer
