"""Keeps a posted event durably before anybody looks into it, many posts per commit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from prometheus_client import Counter

from chassis.database import Transaction
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing
from chassis.telemetry.metrics import registry
from status_ingest import store
from status_ingest.domain.arrivals import Arrival, Reading

BODY_BYTES_MAX = 1024 * 1024

events_total = Counter(
    "pilot_status_ingest_events_total", "Events by what became of them.", ["event", "result"], registry=registry
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepEvent:
    """Seal a reading under a fresh id and store it; `kept` is called after each commit."""

    commits: GroupCommit[Arrival, None]
    key_ring: KeyRing
    new_id: Callable[[], UUID]
    kept: Callable[[], None]

    async def keep(self, reading: Reading) -> None:
        """Returns once the event is safe; raises `UnavailableError` if it cannot be stored now."""
        event_id = self.new_id()
        plaintext = reading.plaintext
        await self.commits.submit(
            Arrival(
                id=event_id,
                event=reading.event,
                instance=reading.instance,
                sealed=None if plaintext is None else self.key_ring.seal(plaintext, aad=event_id.bytes),
                size_bytes=reading.size_bytes,
                fault=reading.fault,
            )
        )
        events_total.labels(event=reading.event, result=reading.fault or "kept").inc()
        self.kept()


async def store_arrivals(tx: Transaction, arrivals: Sequence[Arrival]) -> Sequence[None]:
    """The write of the group commit: interpretable events to one table, the others to quarantine."""
    sound = [arrival for arrival in arrivals if arrival.fault is None]
    faulty = [arrival for arrival in arrivals if arrival.fault is not None]
    if faulty:
        await store.insert_faulty(tx, faulty)
    if sound:
        store.insert_raw_events(tx, sound)
    return [None] * len(arrivals)
