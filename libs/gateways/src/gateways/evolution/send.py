"""Sends one message through Evolution exactly once and says what is certain about it."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import httpx

from gateways.evolution.bodies import SendCall, call_for, private_words
from gateways.evolution.evidence import judge_failure, judge_reply
from gateways.evolution.exchange import AddressUnusableError, EvolutionClient, Timeouts, build_request
from gateways.evolution.redaction import DETAIL_CHARS_MAX
from gateways.port import Answer, NotSent, NotSentReason, Outbound, RefusalCode, Refused, Taken

ANSWER_BYTES_MAX = 64 * 1024
MEDIA_BYTES_MAX = 16 * 1024 * 1024
"""A file inside a message, decoded; WhatsApp takes larger ones, by URL."""

# Evolution takes 18 digits and more for a group, and anything with an @ for whatever it names.
_PERSON = re.compile(r"[0-9]{6,15}")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class EvolutionSender(EvolutionClient):
    """Implements `Sender`; calls may run concurrently."""

    def __init__(
        self,
        *,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        connections_max: int = 200,
        media_bytes_max: int = MEDIA_BYTES_MAX,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        super().__init__(timeouts=timeouts, transport=transport, connections_max=connections_max)
        self._media_bytes_max = media_bytes_max
        self._clock = clock

    def call_seconds_max(self, outbound: Outbound) -> float:
        """The longest `send` can take, presence included: what a lease must outlive."""
        typing = self._typing_seconds(outbound) if outbound.typing_ms > 0 else 0.0
        call = call_for(outbound, media_bytes_max=self._media_bytes_max)
        if isinstance(call, Refused):
            return 0.0
        return typing + self._timeouts.whole(
            read_seconds=self._read_seconds(outbound, call), write_seconds=self._write_seconds(call)
        )

    async def send(self, outbound: Outbound) -> Answer:
        """Show typing if asked to, then send once; never raises for anything the network or the gateway does."""
        call = call_for(outbound, media_bytes_max=self._media_bytes_max)
        if isinstance(call, Refused):
            return call
        request = _send_request(outbound, call)
        if not isinstance(request, httpx.Request):
            return request
        if outbound.typing_ms > 0:
            await self.simulate_typing(outbound, presence=call.presence)
        try:
            reply = await self._exchange(
                request,
                read_seconds=self._read_seconds(outbound, call),
                write_seconds=self._write_seconds(call),
                body_bytes_max=ANSWER_BYTES_MAX,
            )
        except Exception as error:
            return judge_failure(error)
        answer = judge_reply(reply, now=self._clock(), private=private_words(outbound))
        if isinstance(answer, Taken) and call.chooses_id:
            return replace(answer, id_honoured=answer.key_id == outbound.reserved_id)
        return answer

    async def simulate_typing(self, outbound: Outbound, *, presence: str = "composing") -> bool:
        """Best effort "typing…" or "recording…", bounded on its own; whether Evolution took it is of no consequence."""
        bound = self._typing_seconds(outbound)
        body = {
            "number": outbound.recipient,
            "presence": presence,
            # Evolution answers after the delay; half a second is left for it to do so inside the bound.
            "delay": max(0, min(outbound.typing_ms, int(bound * 1000) - 500)),
        }
        try:
            request = build_request(
                outbound.access, "POST", "chat", "sendPresence", outbound.access.instance, body=body
            )
            async with asyncio.timeout(bound):
                reply = await self._exchange(request, read_seconds=bound, body_bytes_max=4_096)
        except Exception:
            return False
        return reply.status == 201

    def _read_seconds(self, outbound: Outbound, call: SendCall) -> float:
        bound = self._timeouts.media_read_seconds if call.heavy else self._timeouts.read_seconds
        return max(outbound.typing_ms, 0) / 1000 + bound

    def _write_seconds(self, call: SendCall) -> float:
        return self._timeouts.media_write_seconds if call.heavy else self._timeouts.write_seconds

    def _typing_seconds(self, outbound: Outbound) -> float:
        wanted = outbound.typing_ms / 1000 + 1.0
        return min(max(wanted, self._timeouts.presence_seconds_min), self._timeouts.presence_seconds_max)


def _send_request(outbound: Outbound, call: SendCall) -> httpx.Request | Answer:
    if _PERSON.fullmatch(outbound.recipient) is None:
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="the recipient is not a phone number in bare digits")
    try:
        return build_request(
            outbound.access, "POST", "message", call.endpoint, outbound.access.instance, body=call.body
        )
    except AddressUnusableError as error:
        return NotSent(reason=NotSentReason.UNREACHABLE, detail=str(error)[:DETAIL_CHARS_MAX])
    except ValueError:
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="the text is not valid Unicode")
