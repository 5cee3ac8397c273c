"""Questions to the reconciler, over the broker."""

from dataclasses import dataclass

from api.refusals import Refusal, RefusedError
from chassis.questions import Asker, OwnerUnavailableError, QuestionFailedError
from chassis.telemetry.logs import get_logger
from contracts.answers import read_answer
from contracts.questions import Question
from contracts.registry import RECONCILER, UnreadableError
from contracts.statement import Statement
from contracts.topology import question_queue

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcilerQuestions:
    """A silent reconciler is a refusal, never a hang."""

    asker: Asker
    timeout_seconds: float

    async def ask(self, question: Question) -> Statement:
        """The reconciler's answer; raises `RefusedError(OWNER_UNAVAILABLE)`."""
        try:
            answer = await self.asker.ask(
                question_queue(RECONCILER), question.body(), type=question.TYPE, timeout_seconds=self.timeout_seconds
            )
            return read_answer(answer)
        except (OwnerUnavailableError, QuestionFailedError, UnreadableError) as error:
            logger.warning("question_unanswered", type=question.TYPE, error=error)
            raise RefusedError(Refusal.OWNER_UNAVAILABLE) from error
