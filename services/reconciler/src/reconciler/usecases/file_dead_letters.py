"""Files what queues gave up on, sealed whatever it is, so that it can be looked into and replayed."""

from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client import Counter

from chassis.database import Transaction
from chassis.seal import KeyRing
from chassis.telemetry.metrics import registry
from contracts.topology import QUEUES
from reconciler.domain.dead_letters import DeadLetter, storable
from reconciler.domain.diagnosis import corpse_of, diagnose
from reconciler.store import dead_letters

filed_total = Counter(
    "pilot_reconciler_dead_letters_total",
    "Dead letters filed, by queue and reason.",
    ["queue", "reason"],
    registry=registry,
)

_QUEUES = frozenset(queue.name for queue in QUEUES)
_REASONS = frozenset({"rejected", "expired", "maxlen", "delivery_limit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDeadLetters:
    """Bodies are sealed again even though contents already are: a letter nobody can read may hold anything."""

    key_ring: KeyRing

    async def write(self, tx: Transaction, letters: Sequence[DeadLetter]) -> Sequence[None]:
        """The write of a group commit; a letter that comes again is filed once, one that died again says so."""
        distinct = {letter.id: letter for letter in letters}
        news = await dead_letters.file_dead_letters(tx, [self._filed(distinct[key]) for key in sorted(distinct)])
        for letter_id in news:
            letter = distinct[letter_id]
            queue = letter.origin_queue if letter.origin_queue in _QUEUES else "other"
            filed_total.labels(queue=queue, reason=letter.reason if letter.reason in _REASONS else "other").inc()
        return [None] * len(letters)

    def _filed(self, letter: DeadLetter) -> tuple[DeadLetter, str, tuple[str, str]]:
        found = diagnose(corpse_of(letter), self.key_ring.check)
        sealed = self.key_ring.seal(letter.body, aad=letter.id.bytes)
        return letter, sealed, (found.cause.value, storable(found.sentence))
