"""The ledger ends up the same in whatever order the facts arrive, and keeps nothing it does not need."""

import itertools
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from contracts.errors import ErrorCode
from contracts.facts import (
    MessageDeferred,
    MessageDispatchCanceled,
    MessageDispatched,
    MessageDispatchFailed,
    MessageStatusChanged,
    MessageUncertain,
)
from contracts.facts.messages import DeferReason, Proof
from contracts.status import Status
from contracts.values import MessageRef
from reconciler.domain.ledger import LedgerFact
from reconciler.usecases.keep_ledger import KeepLedger, Told

from .conftest import GRACE, START, Service, accepted, reference

SECOND = timedelta(seconds=1)


def deferred(ref: MessageRef, *, seconds: int | None) -> MessageDeferred:
    """Waits until so many seconds after START, or until the number opens."""
    next_attempt_at = None if seconds is None else START + seconds * SECOND
    return MessageDeferred(ref=ref, attempt=1, reason=DeferReason.RETRY, next_attempt_at=next_attempt_at)


def uncertain(ref: MessageRef, *, seconds: int) -> MessageUncertain:
    """To be resolved within so many seconds after START."""
    return MessageUncertain(ref=ref, attempt=1, reason="TIMEOUT", resolve_by=START + seconds * SECOND)


def dispatched(ref: MessageRef) -> MessageDispatched:
    """It left."""
    return MessageDispatched(ref=ref, attempt=1, key_id="K1", dispatched_at=START, proof=Proof.RESPONSE)


def failed(ref: MessageRef) -> MessageDispatchFailed:
    """It will not be sent."""
    return MessageDispatchFailed(ref=ref, attempt=1, error_code=ErrorCode.GATEWAY_REFUSED, failed_at=START)


def changed(ref: MessageRef, status: Status, *, version: int = 2) -> MessageStatusChanged:
    """The public status moved."""
    return MessageStatusChanged(
        ref=ref, previous=Status.QUEUED, status=status, changed_at=START, version=version, accepted_at=START
    )


async def test_an_accepted_message_opens_a_row_that_becomes_suspicious_after_its_due_time(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref, due_at=START + 60 * SECOND))
    row = await service.row()
    assert (row.message_id, row.round, row.evidence, row.closed_at) == (ref.message_id, 1, "NONE", None)
    assert (row.due_at, row.look_at) == (START + 60 * SECOND, START + 60 * SECOND + GRACE)
    assert row.accepted["sealed"] == "sealed-content"


@pytest.mark.parametrize("status", [Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED, Status.CANCELED])
async def test_a_status_that_ends_the_matter_closes_the_row_and_wipes_the_sealed_copy(
    service: Service, status: Status
) -> None:
    ref = reference()
    await service.hear(accepted(ref))
    await service.hear(changed(ref, status))
    row = await service.row()
    assert (row.accepted, row.look_at, row.status) == (None, None, status.value)
    assert row.closed_at == START


async def test_dispatched_is_proof_but_not_the_end(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref), changed(ref, Status.DISPATCHED))
    row = await service.row()
    assert (row.evidence, row.look_at, row.closed_at) == ("DISPATCHED", None, None)
    assert row.accepted is not None


Ending = tuple[object, ...]


async def endings(service: Service, make: Callable[[MessageRef], Sequence[Told]]) -> set[Ending]:
    """How the rows of many messages end that heard the same things, each in another order."""
    count = len(make(reference()))
    orders = [(make(reference()), order) for order in itertools.permutations(range(count))]
    for step in range(count):
        async with service.database.transaction() as tx:
            await KeepLedger(grace=GRACE).write(tx, [told[order[step]] for told, order in orders])
    rows = await service.rows("SELECT * FROM reconciler.ledger")
    assert len(rows) == len(orders)
    return {
        (row.accepted is not None, row.evidence, row.look_at, row.status, row.closed_at, row.due_at) for row in rows
    }


def told(*facts: LedgerFact, moments: Sequence[int]) -> Sequence[Told]:
    """Facts said so many seconds after START."""
    return [Told(fact=fact, occurred_at=START + at * SECOND) for fact, at in zip(facts, moments, strict=True)]


async def test_every_order_of_facts_ends_in_the_same_row(service: Service) -> None:
    found = await endings(
        service,
        lambda ref: told(
            accepted(ref),
            deferred(ref, seconds=100),
            uncertain(ref, seconds=900),
            dispatched(ref),
            changed(ref, Status.DISPATCHED, version=2),
            changed(ref, Status.SENT, version=3),
            moments=(0, 5, 9, 10, 11, 12),
        ),
    )
    assert found == {(False, "DISPATCHED", None, "SENT", START + 12 * SECOND, START)}


async def test_every_order_of_open_facts_ends_in_the_same_row(service: Service) -> None:
    found = await endings(
        service,
        lambda ref: told(accepted(ref), uncertain(ref, seconds=50), deferred(ref, seconds=100), moments=(0, 5, 60)),
    )
    assert found == {(True, "DEFERRED", START + 100 * SECOND + GRACE, None, None, START)}


async def test_a_close_before_the_opening_leaves_a_tombstone(service: Service) -> None:
    ref = reference()
    await service.hear(changed(ref, Status.READ))
    await service.hear(accepted(ref))
    row = await service.row()
    assert (row.accepted, row.look_at) == (None, None)
    assert row.closed_at is not None


async def test_a_cancellation_closes_the_row_whoever_tells_first(service: Service) -> None:
    found = await endings(
        service,
        lambda ref: told(
            accepted(ref),
            MessageDispatchCanceled(ref=ref, canceled_at=START),
            changed(ref, Status.CANCELED),
            moments=(0, 5, 5),
        ),
    )
    assert found == {(False, "CANCELED", None, "CANCELED", START + 5 * SECOND, START)}


async def test_a_canceled_message_is_never_put_back_to_work(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref), MessageDispatchCanceled(ref=ref, canceled_at=START))
    row = await service.row()
    assert (row.accepted, row.look_at) == (None, None)
    assert row.closed_at is not None


async def test_repeats_change_nothing(service: Service) -> None:
    ref = reference()
    facts = (accepted(ref), deferred(ref, seconds=100), failed(ref))
    await service.hear(*facts)
    before = await service.row()
    await service.hear(*facts, *facts)
    assert await service.row() == before


async def test_an_older_version_of_the_status_does_not_win(service: Service) -> None:
    ref = reference()
    await service.hear(changed(ref, Status.DELIVERED, version=4), changed(ref, Status.SENT, version=3))
    assert (await service.row()).status == "DELIVERED"


async def test_each_round_has_a_row_of_its_own(service: Service) -> None:
    first = reference()
    second = first.model_copy(update={"round": 2})
    await service.hear(accepted(first), changed(first, Status.FAILED), accepted(second))
    rows = await service.rows("SELECT round, closed_at FROM reconciler.ledger ORDER BY round")
    assert [(row.round, row.closed_at is None) for row in rows] == [(1, False), (2, True)]


async def test_closed_rows_and_old_dead_letters_go_in_chunks_after_their_retention(service: Service) -> None:
    for _ in range(5):
        ref = reference()
        await service.hear(accepted(ref), changed(ref, Status.READ))
    await service.hear(accepted(reference()))
    forget = type(service.forget)(database=service.database, chunk_size=2)
    assert await forget.step(now=START + timedelta(days=6)) is False
    assert len(await service.rows("SELECT 1 FROM reconciler.ledger")) == 6
    assert await forget.step(now=START + timedelta(days=8)) is True
    while await forget.step(now=START + timedelta(days=8)):
        pass
    assert (await service.row()).closed_at is None


async def test_rounds_of_one_message_are_owed_an_end_each(service: Service) -> None:
    """The first one failed, an operator opened the second; late news of the first closes and opens nothing."""
    first = reference()
    second = first.model_copy(update={"round": 2})
    await service.hear(accepted(first), changed(first, Status.FAILED))
    reopened = changed(second, Status.QUEUED, version=3).model_copy(update={"previous": Status.FAILED})
    await service.hear(reopened, accepted(second))
    await service.hear(dispatched(first), deferred(first, seconds=5), failed(first), at=START + 9 * SECOND)
    rows = {row.round: row for row in await service.rows("SELECT * FROM reconciler.ledger")}
    assert rows[1].closed_at is not None
    assert (rows[2].evidence, rows[2].closed_at, rows[2].status) == ("NONE", None, "QUEUED")
    assert rows[2].accepted["ref"]["round"] == 2
    assert rows[2].look_at == START + GRACE
    await service.hear(changed(second, Status.DELIVERED, version=5))
    rows = {row.round: row for row in await service.rows("SELECT * FROM reconciler.ledger")}
    assert (rows[2].accepted, rows[2].status) == (None, "DELIVERED")
