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
        "uncertain": described.uncertain,
        "categories": [
            {
                "category": depth.category.value,
                "ready": depth.ready,
                "scheduled": depth.scheduled,
                "nextSlotAt": instant(depth.next_slot_at),
            }
            for depth in described.depths
        ],
    }
