"""What an Evolution of a given version can do, asked of its front page and remembered for a while."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

import httpx

from gateways.evolution.exchange import EvolutionClient, Timeouts, build_request
from gateways.evolution.reply import document
from gateways.port import Abilities, Access

ANSWER_BYTES_MAX = 16 * 1024
ASK_SECONDS = 1.0
KNOWN_SECONDS = 600.0
UNKNOWN_SECONDS = 60.0
GATEWAYS_MAX = 1_000

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:[.\-+].*)?")
# 2.4 takes the wrapper off that hid buttons, and passes a `messageId` on to WhatsApp.
_ABLE_SINCE = (2, 4)


class EvolutionInspector(EvolutionClient):
    """Implements `Inspector`. One question per gateway and while, whoever waits for it; at most so many are kept."""

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(timeouts=Timeouts(connect_seconds=ASK_SECONDS, query_seconds=ASK_SECONDS), transport=transport)
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, Abilities]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Abilities]] = {}

    async def aclose(self) -> None:
        """Ask no more."""
        asking = list(self._asking.values())
        for question in asking:
            question.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await super().aclose()

    async def abilities(self, access: Access) -> Abilities:
        """By the version the gateway tells; the first to ask waits for it, at most `ASK_SECONDS` and a connection."""
        until, abilities = self._known.get(access.base_url, (0.0, None))
        if abilities is not None and self._monotonic() < until:
            return abilities
        asking = self._asking.get(access.base_url)
        if asking is None:
            asking = asyncio.create_task(self._ask(access), name="gateway-version")
            self._asking[access.base_url] = asking
            asking.add_done_callback(lambda _: self._asking.pop(access.base_url, None))
        # Whoever gives up waiting must not take the answer away from the others.
        return await asyncio.shield(asking)

    async def _ask(self, access: Access) -> Abilities:
        version = await self._version(access)
        abilities = abilities_of(version)
        kept_for = UNKNOWN_SECONDS if version is None else KNOWN_SECONDS
        self._known[access.base_url] = (self._monotonic() + kept_for, abilities)
        self._known.move_to_end(access.base_url)
        while len(self._known) > GATEWAYS_MAX:
            self._known.popitem(last=False)
        return abilities

    async def _version(self, access: Access) -> str | None:
        try:
            reply = await self._query(build_request(access, "GET"), body_bytes_max=ANSWER_BYTES_MAX)
        except Exception:
            return None
        body = document(reply)
        version = body.get("version") if reply.status == 200 and isinstance(body, Mapping) else None
        return version if isinstance(version, str) and len(version) <= 50 else None


def abilities_of(version: str | None) -> Abilities:
    """By version, as `2.3.7` or `2.4.0-rc2`; anything that is no version can nothing."""
    found = _VERSION.fullmatch(version) if version is not None else None
    able = found is not None and (int(found[1]), int(found[2])) >= _ABLE_SINCE
    return Abilities(native_choices=able, reserved_ids=able)
