"""Canceling: the dispatcher decides, for it alone knows what is being sent; its word is recorded before we answer."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from api.messages.domain.cancellation import CancelOutcome, CancelRefusal, outcome_of, undecided
from api.messages.domain.details import KnownMessage
from api.messages.domain.progress import canceled
from api.messages.domain.references import as_uuid, is_storable
from api.messages.domain.scope import Scope
from api.messages.store import reading
from api.messages.usecases.follow_progress import FollowProgress
from api.refusals import Refusal, RefusedError
from chassis.database import Database, UnavailableError
from chassis.telemetry.logs import get_logger
from contracts.dispatch_questions import CanceledMessage, CancelMessages, MessagesCanceled
from contracts.questions import Question
from contracts.statement import Statement

logger = get_logger(__name__)


class DispatcherQuestions(Protocol):
    """Asks the dispatcher; raises `RefusedError(OWNER_UNAVAILABLE)` if it keeps silent."""

    async def ask(self, question: Question) -> Statement: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelByReference:
    """Nothing of what is reported as canceled is ever sent; nothing else was changed."""

    database: Database
    questions: DispatcherQuestions
    follow: FollowProgress

    async def cancel(self, references: Sequence[str], scope: Scope) -> CancelOutcome:
        """Ids or correlation ids; raises `RefusedError(OWNER_UNAVAILABLE)` if that is all there is to say."""
        found = await self._find(references, scope)
        waiting = undecided(found)
        decided = await self._decide(waiting) if waiting else {}
        outcome = outcome_of(references, found, decided)
        refusals = {refusal for _, refusal in outcome.failed}
        if not outcome.canceled and refusals == {CancelRefusal.OWNER_UNAVAILABLE}:
            raise RefusedError(Refusal.OWNER_UNAVAILABLE)
        return outcome

    async def _find(self, references: Sequence[str], scope: Scope) -> Mapping[str, KnownMessage]:
        storable = [reference for reference in references if is_storable(reference)]
        ids = {reference: as_uuid(reference) for reference in storable}
        async with self.database.transaction() as tx:
            known = await reading.find_known(
                tx, scope, references=storable, message_ids=[one for one in ids.values() if one is not None]
            )
        by_id = {message.ref.message_id: message for message in known}
        by_correlation = {message.ref.correlation_id: message for message in known}
        matches = {
            reference: by_correlation.get(reference) or (by_id.get(one) if (one := ids[reference]) else None)
            for reference in storable
        }
        return {reference: message for reference, message in matches.items() if message is not None}

    async def _decide(self, waiting: Mapping[UUID, KnownMessage]) -> Mapping[UUID, bool] | None:
        try:
            answer = await self.questions.ask(CancelMessages(refs=tuple(known.ref for known in waiting.values())))
        except RefusedError:
            return None
        if not isinstance(answer, MessagesCanceled):
            return None
        ours = [message for message in answer.canceled if message.message_id in waiting]
        await asyncio.gather(*(self._record(waiting[message.message_id], message) for message in ours))
        return {message.message_id: True for message in ours}

    async def _record(self, known: KnownMessage, message: CanceledMessage) -> None:
        """So that whoever reads the message after our answer sees it canceled; if not now, the fact will do it."""
        try:
            await self.follow.follow(canceled(known.ref, at=message.canceled_at))
        except UnavailableError:
            logger.warning("cancellation_not_recorded_yet", message_id=message.message_id)
