"""Cancels messages at the one place that can do it without a race: where they are claimed."""

from collections.abc import Mapping
from dataclasses import dataclass

from chassis.database import Database
from contracts.dispatch_questions import CanceledMessage, CancelMessages, MessagesCanceled
from contracts.facts import MessageDispatchCanceled
from dispatcher.domain.jobs import JobKey
from dispatcher.store import canceling
from dispatcher.store.flows import UnusedTurn
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import CANCELED
from dispatcher.usecases.refund_turns import refund_turns


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelJobs:
    """Either a message is canceled and no call is ever made for it, or nothing changes."""

    database: Database
    clock: Clock = None

    async def __call__(self, question: CancelMessages) -> MessagesCanceled:
        """A message canceled before is reported as canceled, but is not told of again."""
        refs = {ref.message_id: ref for ref in question.refs}
        wanted = [refs[message_id] for message_id in sorted(refs)]
        now = given(self.clock)
        async with self.database.transaction() as tx:
            new = await canceling.forestall(tx, wanted, now=now)
            ended = await canceling.cancel_unsent(tx, wanted, now=now)
            new |= set(ended)
            known = await canceling.canceled_at(tx, wanted)
            tx.emit(
                *(
                    MessageDispatchCanceled(ref=ref, canceled_at=known[ref.message_id])
                    for ref in wanted
                    if (ref.message_id, ref.round) in new
                )
            )
        await self._refund(ended)
        CANCELED.inc(len(new))
        return MessagesCanceled(
            canceled=tuple(CanceledMessage(message_id=one, canceled_at=at) for one, at in sorted(known.items())),
            kept=tuple(message_id for message_id in refs if message_id not in known),
        )

    async def _refund(self, ended: Mapping[JobKey, UnusedTurn | None]) -> None:
        """Afterwards: an arrival that waits for what was forestalled holds its lane, which would wait for us here."""
        unused = [one for one in ended.values() if one is not None]
        if unused:
            async with self.database.transaction() as tx:
                await refund_turns(tx, unused)
