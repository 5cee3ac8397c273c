"""Explaining a message: everything that happened to it, and what it waits for now."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.messages.domain.details import StoredMessage
from api.messages.domain.explanation import Explained, explain
from api.messages.domain.scope import Scope
from api.messages.domain.waiting import Waiting, is_asked_about, waiting_for_receipt, waiting_of
from api.messages.store import reading
from api.messages.usecases.cancel_messages import DispatcherQuestions
from api.messages.usecases.read_message import find
from api.refusals import RefusedError
from chassis.database import Database
from contracts.dispatch_questions import ExplainMessage, MessageExplained

STEPS_MAX = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`is_owner_silent`: the dispatcher did not say what the message waits for."""

    message: StoredMessage
    steps: Sequence[Explained]
    waiting: Waiting | None
    is_owner_silent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """Our own steps always answer; the dispatcher adds the present if it can."""

    database: Database
    questions: DispatcherQuestions

    async def explain(self, reference: str, scope: Scope) -> Explanation:
        """The first 500 steps; raises `RefusedError(MESSAGE_NOT_FOUND)` outside the scope too."""
        async with self.database.transaction() as tx:
            message = await find(tx, reference, scope)
            steps = await reading.list_steps(tx, message.message_id, limit=STEPS_MAX)
        waiting, is_owner_silent = await self._waiting(message)
        return Explanation(
            message=message, steps=explain(message, steps), waiting=waiting, is_owner_silent=is_owner_silent
        )

    async def _waiting(self, message: StoredMessage) -> tuple[Waiting | None, bool]:
        if not is_asked_about(message.status):
            return waiting_for_receipt(message.status), False
        try:
            answer = await self.questions.ask(ExplainMessage(ref=message.ref))
        except RefusedError:
            return None, True
        return (waiting_of(answer), False) if isinstance(answer, MessageExplained) else (None, True)
