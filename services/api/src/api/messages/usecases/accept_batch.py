"""Accepting many messages of one request: each is judged for itself, and they share commits."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from api.access.domain import Caller
from api.messages.domain.receipt import Receipt
from api.messages.domain.request import SendRequest
from api.messages.usecases.accept_message import AcceptMessage
from api.messages.usecases.prepare_message import LookedUp
from api.refusals import RefusedError
from chassis.database import UnavailableError

Result = Receipt | RefusedError | UnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of a batch with its own idempotency key, or what is wrong with its form."""

    request: SendRequest | RefusedError
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptBatch:
    """One bad item never fails the others."""

    accept: AcceptMessage

    async def accept_all(self, items: Sequence[Item], caller: Caller) -> Sequence[Result]:
        """A result per item, in order; of items that reach a limit together the first ones pass.

        Raises `RefusedError` if the caller may not send at all.
        """
        names = {item.request.template for item in items if isinstance(item.request, SendRequest)}
        known = await self.accept.prepare.look_up(names, caller)
        return await asyncio.gather(*(self._accept(item, caller, known) for item in items))

    async def _accept(self, item: Item, caller: Caller, known: LookedUp) -> Result:
        if isinstance(item.request, RefusedError):
            return item.request
        try:
            return await self.accept.accept(item.request, caller, key=item.key, known=known)
        except (RefusedError, UnavailableError) as error:
            return error
