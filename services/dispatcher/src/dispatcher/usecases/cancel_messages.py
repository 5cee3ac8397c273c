"""Cancels messages at the one place that can do it without a race: where they are claimed."""

from dataclasses import dataclass

from chassis.database import Database
from contracts.dispatch_questions import CanceledMessage, CancelMessages, MessagesCanceled
from contracts.facts import MessageDispatchCanceled
from dispatcher.store import canceling
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import CANCELED


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
            new |= await canceling.cancel_unsent(tx, wanted, now=now)
            known = await canceling.canceled_at(tx, wanted)
            tx.emit(
                *(
                    MessageDispatchCanceled(ref=ref, canceled_at=known[ref.message_id])
                    for ref in wanted
                    if (ref.message_id, ref.round) in new
                )
            )
        CANCELED.inc(len(new))
        return MessagesCanceled(
            canceled=tuple(CanceledMessage(message_id=one, canceled_at=at) for one, at in sorted(known.items())),
            kept=tuple(message_id for message_id in refs if message_id not in known),
        )
