"""Asks another service over the broker and waits a while for its answer, or learns at once that nobody is there."""

import asyncio
from uuid import uuid4

from aio_pika import Message
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, DeliveryMode, HeadersType
from aio_pika.exceptions import PublishError

from chassis.amqp import BROKER_TROUBLE, close_quietly, connect, was_cancelled_by_us
from chassis.telemetry.tracing import current_traceparent

DIRECT_REPLY_TO = "amq.rabbitmq.reply-to"
ERROR_TYPE = "error"
"""The AMQP type of an answer that says only that the question failed."""


class OwnerUnavailableError(Exception):
    """Nobody answered: no such queue, no broker, or no answer in time. The question may have been carried out."""


class QuestionFailedError(Exception):
    """The owner tried to answer and failed; the argument is the type of its error."""


class Asker:
    """One connection for questions and their answers, opened when first needed and again after a loss."""

    name = "asker"

    def __init__(self, url: str, *, service: str) -> None:
        self._url, self._connection_name = url, f"{service}:ask"
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._opening = asyncio.Lock()
        self._waiting: dict[str, asyncio.Future[AbstractIncomingMessage]] = {}

    async def start(self) -> None:
        """Nothing yet: a service may start before its broker."""

    async def stop(self) -> None:
        """Fail what still waits and close the connection."""
        self._fail_waiting()
        connection, self._connection, self._channel = self._connection, None, None
        if connection is not None:
            await close_quietly(connection)

    async def ask(self, queue_name: str, body: bytes, *, type: str, timeout_seconds: float) -> bytes:
        """The answer's body; raises `OwnerUnavailableError` or `QuestionFailedError` within `timeout_seconds`."""
        deadline = asyncio.get_running_loop().time() + timeout_seconds
        try:
            async with asyncio.timeout_at(deadline):
                answer = await self._exchange(queue_name, body, type, deadline)
        except PublishError as error:
            raise OwnerUnavailableError("no such owner") from error
        except TimeoutError as error:
            raise OwnerUnavailableError("no answer in time") from error
        except BROKER_TROUBLE as error:
            raise OwnerUnavailableError("no broker") from error
        except asyncio.CancelledError as error:
            if was_cancelled_by_us():
                raise
            raise OwnerUnavailableError("connection lost") from error
        if answer.type == ERROR_TYPE:
            raise QuestionFailedError(answer.body.decode(errors="replace")[:100])
        return answer.body

    async def _exchange(self, queue_name: str, body: bytes, kind: str, deadline: float) -> AbstractIncomingMessage:
        channel = await self._open()
        correlation_id = str(uuid4())
        answer: asyncio.Future[AbstractIncomingMessage] = asyncio.get_running_loop().create_future()
        self._waiting[correlation_id] = answer
        try:
            await channel.default_exchange.publish(
                _question(body, kind, correlation_id, deadline), queue_name, mandatory=True
            )
            return await answer
        finally:
            del self._waiting[correlation_id]

    async def _open(self) -> AbstractChannel:
        async with self._opening:
            if self._channel is not None and not self._channel.is_closed:
                return self._channel
            if self._connection is not None:
                await close_quietly(self._connection)
            self._connection = await connect(self._url, name=self._connection_name)
            channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
            underlay = await channel.get_underlay_channel()
            underlay.closing.add_done_callback(lambda _: self._fail_waiting())
            replies = await channel.get_queue(DIRECT_REPLY_TO, ensure=False)
            await replies.consume(self._answered, no_ack=True)
            self._channel = channel
            return channel

    async def _answered(self, message: AbstractIncomingMessage) -> None:
        waiting = self._waiting.get(message.correlation_id or "")
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def _fail_waiting(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the connection was lost"))


def _question(body: bytes, kind: str, correlation_id: str, deadline: float) -> Message:
    """It expires when its asker stops waiting."""
    traceparent = current_traceparent()
    headers: HeadersType = {"traceparent": traceparent} if traceparent else {}
    return Message(
        body,
        type=kind,
        message_id=correlation_id,
        correlation_id=correlation_id,
        reply_to=DIRECT_REPLY_TO,
        expiration=max(0.001, deadline - asyncio.get_running_loop().time()),
        delivery_mode=DeliveryMode.NOT_PERSISTENT,
        content_type="application/json",
        headers=headers,
    )
