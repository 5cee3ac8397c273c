"""Listing messages, newest first, page after page."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from api.messages.domain.cursors import CURSOR_PURPOSE, Position, read_cursor, write_cursor
from api.messages.domain.listing import Filters, listing_key
from api.messages.domain.scope import Scope
from api.messages.store import listing
from api.messages.usecases.opening import Opened, opened
from chassis.database import Database
from chassis.seal import KeyRing, Pepper
from contracts.matching import RECIPIENT_PURPOSE
from gateways.recipients import recipient_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Messages with their contents, and where the next page starts; None on the last one."""

    messages: Sequence[Opened]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMessages:
    """One statement per page, whatever its size and however deep; a page of large files is shorter."""

    database: Database
    keys: KeyRing
    pepper: Pepper = field(repr=False)

    async def page(self, scope: Scope, filters: Filters, *, cursor: str | None, limit: int) -> Page:
        """Raises `RefusedError(CURSOR_INVALID)` for a cursor of another listing, or one we did not write."""
        bound_to = listing_key(filters, scope)
        after = read_cursor(cursor, bound_to=bound_to, prove=self._prove) if cursor is not None else None
        async with self.database.transaction() as tx:
            page, has_more = await listing.list_newest(tx, scope, filters, after=after, limit=limit)
        next_cursor = None
        if has_more:
            last = Position(accepted_at=page[-1].accepted_at, message_id=page[-1].message_id)
            next_cursor = write_cursor(last, bound_to=bound_to, prove=self._prove)
        return Page(messages=opened(self.keys, page), next_cursor=next_cursor)

    def recipient_hash(self, digits: str) -> str:
        """How messages to a phone number are found without keeping it."""
        return self.pepper.hash(recipient_key(digits), purpose=RECIPIENT_PURPOSE)

    def _prove(self, value: str) -> str:
        return self.pepper.hash(value, purpose=CURSOR_PURPOSE)
