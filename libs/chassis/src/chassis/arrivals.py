"""Collects deliveries of one channel into batches bounded by number and by time."""

import asyncio
from collections.abc import Sequence

from aio_pika.abc import AbstractIncomingMessage

from chassis.redelivery import interrupted


class Arrivals:
    """Deliveries in order, until the channel ends. One reader at a time."""

    def __init__(self, *, batch_size: int, linger_seconds: float) -> None:
        self._batch_size, self._linger_seconds = batch_size, linger_seconds
        self._messages: list[AbstractIncomingMessage] = []
        self._some, self._full = asyncio.Event(), asyncio.Event()
        self._ended = False

    async def add(self, message: AbstractIncomingMessage) -> None:
        """Called by the channel for each delivery."""
        self._messages.append(message)
        self._announce()

    def end(self, *, discard: bool) -> None:
        """No more deliveries; `discard` those waiting, because their channel is gone."""
        self._ended = True
        if discard:
            self._messages.clear()
        self._announce()

    async def next_batch(self) -> Sequence[AbstractIncomingMessage]:
        """Up to `batch_size`, at most `linger_seconds` after the first; empty when everything is over."""
        await self._some.wait()
        if not self._full.is_set():
            await interrupted(self._full, self._linger_seconds)
        batch, self._messages = self._messages[: self._batch_size], self._messages[self._batch_size :]
        self._some.clear()
        self._full.clear()
        self._announce()
        return batch

    def _announce(self) -> None:
        if self._messages or self._ended:
            self._some.set()
        if len(self._messages) >= self._batch_size or self._ended:
            self._full.set()
