"""Works out what kept events say and tells it: the mark that an event is done and its effect commit together."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from prometheus_client import Counter

from chassis.database import Database, UnavailableError
from chassis.seal import KeyRing, Pepper, SealError
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from gateways.evolution.webhooks import translate
from status_ingest import store
from status_ingest.domain.findings import (
    NOT_INTERPRETED,
    SEAL_BROKEN,
    Findings,
    RawEvent,
    combine,
    findings_of,
)
from status_ingest.usecases.tell_findings import tell_findings

logger = get_logger(__name__)

observations_total = Counter(
    "pilot_status_ingest_observations_total",
    "What interpreted events said, by kind.",
    ["kind"],
    registry=registry,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpretEvents:
    """Any number of replicas share the waiting events: each locks the ones it works on."""

    database: Database
    key_ring: KeyRing
    pepper: Pepper
    batch_size: int = 200

    async def step(self) -> bool:
        """Interpret one batch; True if there may be more. An event that spoils its batch is quarantined alone."""
        try:
            return await self.interpret(limit=self.batch_size) == self.batch_size
        except UnavailableError:
            raise
        except Exception:
            logger.exception("batch_not_interpreted")
        async with self.database.transaction() as tx:
            ids = await store.waiting_event_ids(tx, limit=self.batch_size)
        for event_id in ids:
            await self._interpret_alone(event_id)
        return len(ids) == self.batch_size

    async def interpret(self, *, limit: int, only: UUID | None = None) -> int:
        """Interpret up to `limit` events, or `only` one, in one transaction; how many."""
        async with self.database.transaction() as tx:
            events = await store.claim_raw_events(tx, limit=limit, only=only)
            if not events:
                return 0
            parts = [self._read(event) for event in events]
            fresh = await tell_findings(tx, combine(parts))
            reasons = {event.id: part.unreadable for event, part in zip(events, parts, strict=True) if part.unreadable}
            if reasons:
                await store.quarantine_raw_events(tx, reasons)
            await store.mark_interpreted(tx, [event.id for event in events])
        _count(parts, fresh)
        return len(events)

    async def _interpret_alone(self, event_id: UUID) -> None:
        try:
            await self.interpret(limit=1, only=event_id)
        except UnavailableError:
            raise
        except Exception:
            logger.exception("event_not_interpreted")
            async with self.database.transaction() as tx:
                if await store.claim_raw_events(tx, limit=1, only=event_id):
                    await store.quarantine_raw_events(tx, {event_id: NOT_INTERPRETED})
                    await store.mark_interpreted(tx, [event_id])
            observations_total.labels(kind="unreadable").inc()

    def _read(self, event: RawEvent) -> Findings:
        try:
            payload = json.loads(self.key_ring.open(event.sealed, aad=event.id.bytes))
            observations = translate(payload, instance_hint=event.instance)
            return findings_of(observations, received_at=event.received_at, hash_of=self.pepper.hash)
        except SealError:
            logger.error("event_seal_broken")
            return Findings(unreadable=SEAL_BROKEN)
        except Exception:
            logger.exception("event_not_read")
            return Findings(unreadable=NOT_INTERPRETED)


def _count(parts: Sequence[Findings], fresh: Findings) -> None:
    said = sum(len(part.receipts) + len(part.homeless) + len(part.echoes) for part in parts)
    new = len(fresh.receipts) + len(fresh.homeless) + len(fresh.echoes)
    counts = {
        "receipt": len(fresh.receipts),
        "homeless": len(fresh.homeless),
        "echo": len(fresh.echoes),
        "connection": sum(len(part.connections) for part in parts),
        "duplicate": said - new,
        "ignored": sum(part.ignored for part in parts),
        "unreadable": sum(1 for part in parts if part.unreadable),
    }
    for kind, count in counts.items():
        observations_total.labels(kind=kind).inc(count)
