"""Sends one text through Evolution exactly once and says what is certain about it."""

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime

import httpx

from gateways.evolution.evidence import judge_failure, judge_reply
from gateways.evolution.exchange import AddressUnusableError, EvolutionClient, Timeouts, build_request
from gateways.evolution.redaction import DETAIL_CHARS_MAX
from gateways.port import Answer, NotSent, NotSentReason, Outbound, RefusalCode, Refused

ANSWER_BYTES_MAX = 64 * 1024
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
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        super().__init__(timeouts=timeouts, transport=transport, connections_max=connections_max)
        self._clock = clock

    def call_seconds_max(self, outbound: Outbound) -> float:
        """The longest `send` can take, presence included: what a lease must outlive."""
        typing = self._typing_seconds(outbound) if outbound.typing_ms > 0 else 0.0
        return typing + self._timeouts.whole(read_seconds=self._read_seconds(outbound))

    async def send(self, outbound: Outbound) -> Answer:
        """Show typing if asked to, then send once; never raises for anything the network or the gateway does."""
        request = _send_request(outbound)
        if not isinstance(request, httpx.Request):
            return request
        if outbound.typing_ms > 0:
            await self.simulate_typing(outbound)
        try:
            reply = await self._exchange(
                request, read_seconds=self._read_seconds(outbound), body_bytes_max=ANSWER_BYTES_MAX
            )
        except Exception as error:
            return judge_failure(error)
        return judge_reply(reply, now=self._clock(), private=f"{outbound.recipient} {outbound.text}")

    async def simulate_typing(self, outbound: Outbound) -> bool:
        """Best effort "typing…" before a send, bounded on its own; whether Evolution took it is of no consequence."""
        bound = self._typing_seconds(outbound)
        body = {
            "number": outbound.recipient,
            "presence": "composing",
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

    def _read_seconds(self, outbound: Outbound) -> float:
        return max(outbound.typing_ms, 0) / 1000 + self._timeouts.read_seconds

    def _typing_seconds(self, outbound: Outbound) -> float:
        wanted = outbound.typing_ms / 1000 + 1.0
        return min(max(wanted, self._timeouts.presence_seconds_min), self._timeouts.presence_seconds_max)


def _send_request(outbound: Outbound) -> httpx.Request | Answer:
    """`delay` stays absent: it would block the call on their side, where aborting does not cancel the send."""
    if _PERSON.fullmatch(outbound.recipient) is None:
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="the recipient is not a phone number in bare digits")
    body = {"number": outbound.recipient, "text": outbound.text, "linkPreview": outbound.link_preview}
    try:
        return build_request(outbound.access, "POST", "message", "sendText", outbound.access.instance, body=body)
    except AddressUnusableError as error:
        return NotSent(reason=NotSentReason.UNREACHABLE, detail=str(error)[:DETAIL_CHARS_MAX])
    except ValueError:
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="the text is not valid Unicode")
