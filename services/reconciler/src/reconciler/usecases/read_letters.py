"""Shows dead letters to operators: lists without content, and one letter explained in sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chassis.database import Database
from chassis.seal import KeyRing, SealError
from contracts.questions import Rejected
from contracts.repair_questions import DeadLetterExplained, DeadLetters, FindDeadLetter, ListDeadLetters
from reconciler.domain.letters import Filed, explain
from reconciler.store import dead_letters, ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLetters:
    """Bodies are opened only to find out what is wrong with them; nothing of what they say leaves here."""

    database: Database
    key_ring: KeyRing
    clock: Callable[[], datetime]

    async def page(self, asked: ListDeadLetters) -> DeadLetters:
        """Latest filed first."""
        async with self.database.transaction() as tx:
            found = await dead_letters.list_dead_letters(tx, asked)
        return DeadLetters(letters=tuple(found[: asked.limit]), more=len(found) > asked.limit)

    async def one(self, asked: FindDeadLetter) -> DeadLetterExplained | Rejected:
        """One letter, explained by today's code and keys."""
        async with self.database.transaction() as tx:
            row = await dead_letters.find_dead_letter(tx, asked.letter_id)
            known = await ledger.find_status(tx, row.message_id) if row is not None and row.message_id else None
        if row is None:
            return Rejected(code="DEAD_LETTER_NOT_FOUND", message="There is no such dead letter.")
        return explain(opened(row, self.key_ring), self.key_ring.check, now=self.clock(), ledger=known)


def opened(row: Any, key_ring: KeyRing) -> Filed:
    """A stored letter; one whose own seal cannot be opened any more is shown without its body."""
    try:
        body = key_ring.open(row.sealed, aad=row.id.bytes)
    except SealError:
        body = b""
    return Filed(letter=dead_letters.told(row), headers=dict(row.headers), body=body)
