"""Sending a message again that failed: an operator opens its next round, and the platform owes it an end anew."""

from dataclasses import dataclass
from uuid import UUID

from api.limits.store import add_usage, lock_counters
from api.messages.domain.rounds import Ended, check_may_reprocess, next_round, recount, step_of
from api.messages.store import folding, reopening
from api.messages.usecases.follow_progress import told
from api.numbers.domain import Number
from api.numbers.store import find_number
from api.optins.domain import is_asked_for
from api.optins.store import authorized_among
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database, Transaction
from contracts.facts import MessageAccepted
from contracts.ids import uuid7


@dataclass(frozen=True, slots=True, kw_only=True)
class ReprocessMessage:
    """Status, usage, step and facts of the new round are one commit; what is still said of older ones is history."""

    database: Database
    clock: Clock
    opt_in_enabled: bool

    async def reprocess(self, message_id: UUID) -> MessageAccepted:
        """The fact of the new round; raises `RefusedError`.

        It counts on the limits like a new message, but is not refused by them: it is the operator's decision.
        """
        now = self.clock()
        async with self.database.transaction() as tx:
            ended = await reopening.find_ended(tx, message_id)
            if ended is None:
                raise RefusedError(Refusal.MESSAGE_NOT_FOUND)
            number = await find_number(tx, ended.message.ref.number_id)
            accepted = next_round(ended, check_may_reprocess(ended, number), now=now)
            await self._check_consent(tx, ended, number)
            counted = recount(ended, now=now)
            transition = await reopening.open_round(tx, accepted, counted)
            if counted.keys:
                await lock_counters(tx, counted.keys)
                await add_usage(tx, dict.fromkeys(counted.keys, 1))
            await folding.insert_steps(tx, [step_of(ended, accepted, statement_id=uuid7())])
            tx.emit(told(transition), accepted)
        return accepted

    async def _check_consent(self, tx: Transaction, ended: Ended, number: Number | None) -> None:
        """It may have been withdrawn since the first round."""
        ref = ended.message.ref
        needed = number is not None and is_asked_for(
            enabled=self.opt_in_enabled,
            number=number,
            environment=ref.environment,
            project_id=ref.project_id,
            category=ref.category,
        )
        pair = (ref.project_id, ended.message.recipient_hash)
        if needed and pair not in await authorized_among(tx, [pair]):
            raise RefusedError(Refusal.OPT_IN_REQUIRED, extras={"reason": "NO_OPTIN"})
