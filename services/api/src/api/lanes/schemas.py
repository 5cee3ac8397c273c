"""The body of a described lane."""

from typing import Any

from api.schemas import instant
from contracts.dispatch_questions import LaneDescribed


def lane_body(described: LaneDescribed) -> dict[str, Any]:
    """`known` is false while the dispatcher has not heard of the number; counts stop at 10,000."""
    lane = described.lane
    if lane is None:
        return {"known": False}
    return {
        "known": True,
        "instance": lane.instance,
        "state": lane.state.value,
        "reason": lane.reason,
        "observedAt": instant(lane.observed_at),
        "paused": lane.paused,
        "inFlight": lane.in_flight,
        "maxInFlight": lane.max_in_flight,
        "sendsFail": lane.sends_fail,
        "nextProbeAt": instant(lane.next_probe_at),
        "firstContactsHeldUntil": instant(lane.first_contacts_held_until),
        "unacknowledgedSince": instant(lane.unacknowledged_since),
        "uncertain": described.uncertain,
        "categories": [
            {
                "category": depth.category.value,
                "ready": depth.ready,
                "scheduled": depth.scheduled,
                "nextSlotAt": instant(depth.next_slot_at),
                "oldestDueAt": instant(depth.oldest_due_at) if depth.oldest_due_at else None,
                "allowedPerHour": depth.allowed_per_hour,
            }
            for depth in described.depths
        ],
        "sentLastHour": described.sent_last_hour,
        "tenants": [{"tenantId": str(one.tenant_id), "ready": one.ready} for one in described.tenants],
    }
