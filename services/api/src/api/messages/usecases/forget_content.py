"""Forgetting what was said and to whom, for a number that is gone or one that does not keep messages for ever."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from api.messages.store import forgetting
from api.messages.store.forgetting import Forgotten
from chassis.clock import Clock
from chassis.database import Database
from chassis.retention import deleted_total
from contracts.facts import ContentForgotten
from contracts.facts.privacy import FORGOTTEN_MAX

BATCH = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetContent:
    """In batches, each a transaction of its own, told in the same commit; repeating it is harmless."""

    database: Database
    clock: Clock

    async def of_number(self, number_id: UUID) -> None:
        """Returns once nothing is left."""
        forgotten = BATCH
        while forgotten == BATCH:
            async with self.database.transaction() as tx:
                found = await forgetting.forget_number(tx, number_id, limit=BATCH)
                tx.emit(*told_forgotten(found, now=self.clock()))
            forgotten = len(found)
            deleted_total.labels(kind="content").inc(forgotten)

    async def expired(self) -> bool:
        """One batch; True if there may be more."""
        async with self.database.transaction() as tx:
            left = await forgetting.forget_left(tx, limit=BATCH)
            never_left = await forgetting.forget_never_left(tx, limit=BATCH)
            tx.emit(*told_forgotten([*left, *never_left], now=self.clock()))
        deleted_total.labels(kind="content").inc(len(left) + len(never_left))
        return max(len(left), len(never_left)) >= BATCH


def told_forgotten(forgotten: Sequence[Forgotten], *, now: datetime) -> Iterator[ContentForgotten]:
    """What everybody with a copy hears, by number, in statements of bounded size."""
    by_number: dict[UUID, list[UUID]] = defaultdict(list)
    for message_id, number_id in forgotten:
        by_number[number_id].append(message_id)
    for number_id, message_ids in by_number.items():
        for start in range(0, len(message_ids), FORGOTTEN_MAX):
            some = tuple(message_ids[start : start + FORGOTTEN_MAX])
            yield ContentForgotten(number_id=number_id, message_ids=some, forgotten_at=now)
