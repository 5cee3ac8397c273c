"""Takes the content of messages that are kept no longer out of the webhooks that told of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from chassis.database import Database, UnavailableError
from chassis.retention import deleted_total
from chassis.seal import KeyRing, SealError
from contracts.facts import ContentForgotten
from notifier.domain.redaction import redacted
from notifier.store import contents
from notifier.tables import SEALED_BODIES

TRIES: Final = 20
PAUSE_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetContents:
    """Deliveries stay, with bodies as if the content had never been kept: what is still owed is told without it.

    Repeating it is harmless. A body that cannot be opened goes with its retention.
    """

    database: Database
    ring: KeyRing
    bite: int = 500

    async def __call__(self, fact: ContentForgotten) -> None:
        """Raises `UnavailableError` if rows stay locked, so that the fact comes again."""
        async with self.database.transaction() as tx:
            ids = await contents.deliveries_of(tx, number_id=fact.number_id, message_ids=fact.message_ids)
        for start in range(0, len(ids), self.bite):
            await self._redact(ids[start : start + self.bite])

    async def _redact(self, delivery_ids: Sequence[UUID]) -> None:
        left = list(delivery_ids)
        for _ in range(TRIES):
            left = await self._redact_free(left)
            if not left:
                break
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            raise UnavailableError("deliveries are held by somebody")
        async with self.database.transaction() as tx:
            await contents.drop_responses(tx, delivery_ids)

    async def _redact_free(self, delivery_ids: Sequence[UUID]) -> list[UUID]:
        """Those that somebody held, or deleted meanwhile, if they are seen again."""
        async with self.database.transaction() as tx:
            free = await SEALED_BODIES.locked(tx, [(delivery_id,) for delivery_id in delivery_ids])
            fresh = {key: body for key, (owner, sealed) in free.items() if (body := self._redacted(owner, sealed))}
            if fresh:
                await SEALED_BODIES.write(tx, fresh)
        deleted_total.labels(kind="webhook_content").inc(len(fresh))
        held = [delivery_id for delivery_id in delivery_ids if (delivery_id,) not in free]
        return held and await self._still_there(held)

    async def _still_there(self, delivery_ids: Sequence[UUID]) -> list[UUID]:
        async with self.database.transaction() as tx:
            return await contents.existing(tx, delivery_ids)

    def _redacted(self, delivery_id: UUID, sealed: str) -> str | None:
        """The new body, sealed; None if there is nothing to take out."""
        try:
            body = self.ring.open(sealed, aad=delivery_id.bytes)
        except SealError:
            return None
        without = redacted(body)
        return self.ring.seal(without, aad=delivery_id.bytes) if without != body else None
