"""Consumes any number of queues that come and go while the process runs."""

import asyncio

from chassis.batch_consumer import BatchHandler, BatchSettings
from chassis.carrier import Carrier
from chassis.deliveries import Decode
from chassis.redelivery import Redelivery
from chassis.supervision import OnFatal
from contracts.topology import DELIVERY_LIMIT, Queue


class DynamicConsumers:
    """`handler(queue_name, batch)` gets up to `batch_size` statements, at most `linger_ms` after the first of them.

    It either handles the whole batch or raises; then the redelivery policy applies to each item by itself. All wanted
    queues are consumed again after every loss of a connection.
    """

    name = "dynamic-consumers"

    def __init__(
        self,
        url: str,
        *,
        service: str,
        decode: Decode,
        handler: BatchHandler,
        dead_exchange: str,
        batch_size: int = 50,
        linger_ms: float = 5.0,
        prefetch: int = 50,
        delivery_limit: int = DELIVERY_LIMIT,
        redelivery: Redelivery | None = None,
        on_fatal: OnFatal | None = None,
        give_up_after_seconds: float = 120.0,
        drain_timeout_seconds: float = 12.0,
    ) -> None:
        self._url, self._service = url, service
        self._settings = BatchSettings(
            decode=decode,
            handler=handler,
            dead_exchange=dead_exchange,
            delivery_limit=delivery_limit,
            batch_size=batch_size,
            linger_seconds=linger_ms / 1000,
            prefetch=prefetch,
            redelivery=redelivery or Redelivery(),
        )
        self._on_fatal, self._give_up_after_seconds = on_fatal, give_up_after_seconds
        self._drain_timeout_seconds = drain_timeout_seconds
        self._carriers: list[Carrier] = []
        self._is_started = False

    async def start(self) -> None:
        """Begin in the background; a broker that is down only delays it."""
        self._is_started = True
        for carrier in self._carriers or [self._carrier_with_room()]:
            carrier.start()

    async def add(self, queue: Queue) -> bool:
        """Declare, bind and consume a queue, now and after every reconnection; again for the same name changes nothing.

        True once it is consumed. False if that takes longer than a few seconds or the broker is away: it follows later.
        """
        carrier = self._carrier_of(queue.name) or self._carrier_with_room()
        return await carrier.add(queue)

    async def remove(self, queue_name: str) -> None:
        """Stop consuming a queue; what is in flight is finished, the queue itself stays."""
        carrier = self._carrier_of(queue_name)
        if carrier is not None:
            await carrier.remove(queue_name, self._drain_timeout_seconds)

    async def stop_consuming(self) -> None:
        """Cancel every consumer, then let the batches in flight finish."""
        await asyncio.gather(*(carrier.drain(self._drain_timeout_seconds) for carrier in self._carriers))

    async def stop(self) -> None:
        """Stop consuming, then close the connections."""
        await self.stop_consuming()
        for carrier in self._carriers:
            await carrier.stop()

    def problem(self) -> str | None:
        """For readiness: None while every wanted queue is being consumed."""
        problems = [problem for carrier in self._carriers if (problem := carrier.problem())]
        return "; ".join(problems) or None

    def consumed(self) -> frozenset[str]:
        """Names of the queues the broker delivers to us from."""
        return frozenset().union(*(carrier.consumed() for carrier in self._carriers))

    def _carrier_of(self, queue_name: str) -> Carrier | None:
        return next((carrier for carrier in self._carriers if carrier.carries(queue_name)), None)

    def _carrier_with_room(self) -> Carrier:
        for carrier in self._carriers:
            if carrier.has_room():
                return carrier
        carrier = Carrier(
            self._url,
            f"{self._service}:dynamic-{len(self._carriers) + 1}",
            self._settings,
            on_fatal=self._on_fatal,
            give_up_after_seconds=self._give_up_after_seconds,
        )
        self._carriers.append(carrier)
        if self._is_started:
            carrier.start()
        return carrier
