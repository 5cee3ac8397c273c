"""Which receipts follow a send and when, decided apart from any clock so that it can be tested as a table."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolution_simulator.scripts import Receipts, Status

USUAL = (Status.SERVER_ACK, Status.DELIVERY_ACK, Status.READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReceipt:
    """A status that happens `after_ms` from acceptance and is posted `posts` times (0: its webhook is lost)."""

    after_ms: int
    status: Status
    posts: int


def plan(receipts: Receipts, usual_delays_ms: Mapping[Status, int], dice: random.Random) -> Sequence[PlannedReceipt]:
    """Every receipt in the order it will happen; a failure cuts off later ones unless `statuses` names them."""
    delays = {**usual_delays_ms, **receipts.delays_ms}
    timed = [(delays[status], status) for status in _statuses(receipts, delays)]
    if receipts.error_after_ms is not None:
        timed.append((receipts.error_after_ms, Status.ERROR))
    timed.sort(key=lambda item: item[0])
    order = [status for _, status in timed]
    if receipts.order == "reversed":
        order.reverse()
    elif receipts.order == "shuffled":
        dice.shuffle(order)
    return tuple(
        PlannedReceipt(
            after_ms=0 if receipts.early else after_ms,
            status=status,
            posts=0 if status in receipts.lost else receipts.duplicates,
        )
        for (after_ms, _), status in zip(timed, order, strict=True)
    )


def _statuses(receipts: Receipts, delays: Mapping[Status, int]) -> Sequence[Status]:
    if receipts.statuses is not None:
        return receipts.statuses
    if receipts.error_after_ms is None:
        return USUAL
    return [status for status in USUAL if delays[status] < receipts.error_after_ms]
