"""A question to the owner of endpoints, and its answer or refusal in the api's words."""

from typing import Protocol, TypeVar

from api.refusals import Refusal, RefusedError
from contracts.questions import Question, Rejected
from contracts.statement import Statement

Answer = TypeVar("Answer", bound=Question)


class Questions(Protocol):
    """Asks the owner of endpoints."""

    async def ask(self, question: Question) -> Statement: ...


async def ask_notifier(questions: Questions, question: Question, expected: type[Answer]) -> Answer:
    """The answer; raises `RefusedError` with the owner's own code if it declines."""
    answer = await questions.ask(question)
    if isinstance(answer, expected):
        return answer
    if isinstance(answer, Rejected):
        refusal = Refusal.__members__.get(answer.code, Refusal.ENDPOINT_REJECTED)
        raise RefusedError(refusal, answer.message, field=answer.field)
    raise RefusedError(Refusal.OWNER_UNAVAILABLE)
