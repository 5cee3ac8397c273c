"""Answers questions that other services put into this service's queue."""

import asyncio
from collections.abc import Awaitable, Callable

from aio_pika import Message
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, DeliveryMode

from chassis.amqp import BROKER_TROUBLE, close_quietly, connect
from chassis.consumption import InFlight, consumed_total, settle_quietly
from chassis.deliveries import traceparent_of
from chassis.outages import is_outage
from chassis.questions import ERROR_TYPE
from chassis.redelivery import Outcome
from chassis.supervision import OnFatal, Supervisor
from chassis.telemetry.logs import get_logger
from chassis.telemetry.tracing import span

logger = get_logger(__name__)

PREFETCH = 20
STEP_TIMEOUT_SECONDS = 10.0
ANSWER_TYPE = "answer"

AnswerHandler = Callable[[str, bytes], Awaitable[bytes]]


class Answerer:
    """Any number of replicas share one queue. A handler that fails is answered for by an error, never by silence.

    `handler(type, body)` returns the answer's body and has `handler_timeout_seconds`. Questions are transient: the
    queue is durable, its content is not, and each question expires when its asker stops waiting.
    """

    name = "answerer"

    def __init__(
        self,
        url: str,
        queue_name: str,
        handler: AnswerHandler,
        *,
        on_fatal: OnFatal | None = None,
        give_up_after_seconds: float = 120.0,
        handler_timeout_seconds: float = 10.0,
    ) -> None:
        self._url, self._queue_name, self._handler = url, queue_name, handler
        self._handler_timeout_seconds = handler_timeout_seconds
        self._in_flight = InFlight()
        self._cancel: Callable[[], Awaitable[object]] | None = None
        self._supervisor = Supervisor(
            f"{queue_name}:answer", self._session, on_fatal=on_fatal, give_up_after_seconds=give_up_after_seconds
        )

    async def start(self) -> None:
        """Begin in the background; a broker that is down only delays it."""
        self._supervisor.start()

    async def stop(self) -> None:
        """Take no more questions, answer those at hand, close."""
        if self._cancel is not None:
            await settle_quietly(self._cancel())
        await self._in_flight.wait_idle(self._handler_timeout_seconds)
        await self._supervisor.stop()

    def problem(self) -> str | None:
        """For readiness: None while questions are taken."""
        return self._supervisor.problem()

    async def _session(self) -> None:
        lost = asyncio.Event()
        connection = await connect(self._url, name=f"{self._queue_name}:answer")
        try:
            self._supervisor.connected()
            async with asyncio.timeout(STEP_TIMEOUT_SECONDS):
                await self._consume(connection, lost)
            self._supervisor.working()
            await lost.wait()
        finally:
            self._cancel = None
            await close_quietly(connection)

    async def _consume(self, connection: AbstractConnection, lost: asyncio.Event) -> None:
        channel = await connection.channel(publisher_confirms=False)
        await channel.set_qos(prefetch_count=PREFETCH)
        queue = await channel.declare_queue(self._queue_name, durable=True, arguments={"x-queue-type": "classic"})
        underlay = await channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(lambda _: lost.set())
        underlay.closing.add_done_callback(lambda _: lost.set())

        async def take(message: AbstractIncomingMessage) -> None:
            with self._in_flight:
                await self._answer(channel, message)

        tag = await queue.consume(take)
        self._cancel = lambda: queue.cancel(tag, timeout=STEP_TIMEOUT_SECONDS)

    async def _answer(self, channel: AbstractChannel, message: AbstractIncomingMessage) -> None:
        with span(f"answer {self._queue_name}", parent=traceparent_of(message)):
            kind, body, outcome = await self._call(message)
        try:
            if message.reply_to:
                await channel.default_exchange.publish(
                    _reply(message, kind, body), message.reply_to, mandatory=False, timeout=STEP_TIMEOUT_SECONDS
                )
        except BROKER_TROUBLE as error:
            logger.warning("answer_not_sent", queue=self._queue_name, error=error)
        await settle_quietly(message.ack())
        consumed_total.labels(queue=self._queue_name, outcome=outcome.value).inc()

    async def _call(self, message: AbstractIncomingMessage) -> tuple[str, bytes, Outcome]:
        try:
            async with asyncio.timeout(self._handler_timeout_seconds):
                return ANSWER_TYPE, await self._handler(message.type or "", message.body), Outcome.DONE
        except Exception as error:
            if is_outage(error):
                logger.warning("question_unavailable", queue=self._queue_name, error=error)
                return ERROR_TYPE, type(error).__name__.encode(), Outcome.UNAVAILABLE
            logger.exception("question_failed", queue=self._queue_name, type=message.type)
            return ERROR_TYPE, type(error).__name__.encode(), Outcome.FAILED


def _reply(question: AbstractIncomingMessage, kind: str, body: bytes) -> Message:
    return Message(
        body,
        type=kind,
        correlation_id=question.correlation_id,
        delivery_mode=DeliveryMode.NOT_PERSISTENT,
        content_type="application/json",
    )
