"""Follows the confirms of one batch of publishes: what the broker did with each, known as soon as it is for all."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, cast

from aiormq import Channel
from aiormq.abc import ChannelFrame


class Outcome(StrEnum):
    """What became of one publish."""

    CONFIRMED = "confirmed"
    RETURNED = "returned"
    LOST = "lost"


class BatchConfirms:
    """One future for a whole batch. A publish is LOST until the broker says otherwise."""

    def __init__(self, channel: Channel, message_ids: Sequence[str]) -> None:
        self.outcomes = [Outcome.LOST] * len(message_ids)
        self._channel, self._message_ids, self._unanswered = channel, message_ids, len(message_ids)
        self._answered: asyncio.Future[None] = channel.create_future()  # fails when the channel closes

    async def send(self, frames: bytes) -> None:
        """Hand over the packed publishes, in the order of their ids; their confirms are awaited from now on."""
        channel = self._channel
        if not self._message_ids:
            self._answered.set_result(None)
            return
        async with channel.lock:
            for place, message_id in enumerate(self._message_ids):
                channel.delivery_tag += 1
                channel.confirmations[channel.delivery_tag] = cast("asyncio.Future[Any]", _Place(self, place))
                channel.message_id_delivery_tag[message_id] = channel.delivery_tag
            await channel.write_queue.put(ChannelFrame(payload=frames, should_close=False))

    async def wait(self, *, timeout_seconds: float) -> None:
        """Until all are answered, or none will be any more."""
        await asyncio.wait((self._answered,), timeout=timeout_seconds)
        for message_id in self._message_ids:
            self._channel.message_id_delivery_tag.pop(message_id, None)

    def settle(self, place: int, outcome: Outcome) -> None:
        """Note an answer."""
        self.outcomes[place] = outcome
        self._unanswered -= 1
        if not self._unanswered and not self._answered.done():
            self._answered.set_result(None)


class _Place:
    """Stands where aiormq keeps a future for each publish, which would cost more than the publish itself."""

    __slots__ = ("_batch", "_place")

    def __init__(self, batch: BatchConfirms, place: int) -> None:
        self._batch, self._place = batch, place

    def done(self) -> bool:
        return self._batch.outcomes[self._place] is not Outcome.LOST

    def cancelled(self) -> bool:
        return False

    def set_result(self, _: object) -> None:
        self._batch.settle(self._place, Outcome.CONFIRMED)

    def set_exception(self, _: Exception) -> None:
        """Returned as unroutable, or not taken (a full queue): the broker does not have it."""
        self._batch.settle(self._place, Outcome.RETURNED)
