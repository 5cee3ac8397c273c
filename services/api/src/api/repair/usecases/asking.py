"""What the use cases of repair need of whoever asks the reconciler for them."""

from typing import Protocol, TypeVar

from api.refusals import Refusal, RefusedError
from contracts.questions import Question
from contracts.statement import Statement

Answer = TypeVar("Answer", bound=Statement)


class RepairQuestions(Protocol):
    """Asks the reconciler; raises `RefusedError(OWNER_UNAVAILABLE)` if it keeps silent."""

    async def ask(self, question: Question) -> Statement: ...


def expected(answer: Statement, kind: type[Answer]) -> Answer:
    """An answer of that kind; an odd one is none."""
    if not isinstance(answer, kind):
        raise RefusedError(Refusal.OWNER_UNAVAILABLE)
    return answer
