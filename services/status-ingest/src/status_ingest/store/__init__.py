"""Every SQL statement of status-ingest; each function is one. What is about numbers is in modules of its own."""

from status_ingest.store.correlating import find_homes, learn_refs, lock_correlations, mark_echoed
from status_ingest.store.forgetting import (
    forget_connections,
    forget_lids,
    forget_matched,
    forget_parked,
    forget_quarantined,
    forget_raw_events,
    forget_recorded,
    forget_traffic,
    forget_unmatched,
)
from status_ingest.store.raw_events import (
    claim_raw_events,
    insert_faulty,
    insert_raw_events,
    mark_interpreted,
    quarantine_raw_events,
    waiting_event_ids,
)
from status_ingest.store.reports import count_homeless, count_parked, insert_receipts, release_parked

__all__ = [
    "claim_raw_events",
    "count_homeless",
    "count_parked",
    "find_homes",
    "forget_connections",
    "forget_lids",
    "forget_matched",
    "forget_parked",
    "forget_quarantined",
    "forget_raw_events",
    "forget_recorded",
    "forget_traffic",
    "forget_unmatched",
    "insert_faulty",
    "insert_raw_events",
    "insert_receipts",
    "learn_refs",
    "lock_correlations",
    "mark_echoed",
    "mark_interpreted",
    "quarantine_raw_events",
    "release_parked",
    "waiting_event_ids",
]
