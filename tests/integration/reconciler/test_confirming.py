"""What left and was not confirmed is asked about; what is open for too long ends, with the code that fits."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from contracts.commands import RequeueMessage, VerifyMessage
from contracts.errors import ErrorCode
from contracts.facts import MessageLost, MessageReturned
from contracts.repair_questions import DescribeLedger
from contracts.status import Status
from reconciler.domain.overdue import REPEATS_FROM
from reconciler.usecases.confirm_dispatch import ConfirmDispatch
from reconciler.usecases.tell_books import TellBooks

from .conftest import START, Service, accepted, reference
from .test_ledger import changed, deferred, dispatched, failed, uncertain

GRACE, AGE_MAX = timedelta(minutes=30), timedelta(days=7)
MINUTE = timedelta(minutes=1)


def confirming(service: Service) -> ConfirmDispatch:
    return ConfirmDispatch(database=service.database, grace=GRACE, age_max=AGE_MAX)


async def age(service: Service) -> None:
    """The rows were first seen when their facts were said, not when the test ran."""
    async with service.database.transaction() as tx:
        await tx.execute(text("UPDATE reconciler.ledger SET first_seen_at = :at"), {"at": START})


async def test_a_dispatched_message_without_receipt_is_verified_at_growing_intervals_and_never_requeued(
    service: Service,
) -> None:
    ref = reference()
    await service.hear(accepted(ref), dispatched(ref))
    confirm, counts = confirming(service), []
    for minutes in (29, 31, 45, 61, 62, 120, 122):
        await confirm.step(now=START + minutes * MINUTE)
        await service.reconcile.step(now=START + minutes * MINUTE)
        counts.append(len(await service.said(VerifyMessage)))
    assert counts == [0, 1, 1, 2, 2, 2, 3]
    assert (await service.said(VerifyMessage))[0] == VerifyMessage(ref=ref, key_id=dispatched(ref).key_id)
    assert await service.said(RequeueMessage) == []


async def test_a_failure_that_the_api_never_told_is_asked_about_too(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref), failed(ref))
    await confirming(service).step(now=START + 31 * MINUTE)
    assert await service.said(VerifyMessage) == [VerifyMessage(ref=ref)]


@pytest.mark.parametrize("status", [Status.SENT, Status.READ, Status.FAILED])
async def test_what_was_confirmed_is_asked_about_no_more(service: Service, status: Status) -> None:
    ref = reference()
    await service.hear(accepted(ref), dispatched(ref), changed(ref, status))
    await confirming(service).step(now=START + AGE_MAX * 2)
    assert await service.said(VerifyMessage) == []
    assert await service.said(MessageLost) == []


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        (None, ErrorCode.NEVER_ATTEMPTED_MAX_AGE_EXCEEDED),
        (lambda ref: deferred(ref, seconds=10), ErrorCode.NEVER_ATTEMPTED_MAX_AGE_EXCEEDED),
        (lambda ref: uncertain(ref, seconds=10), ErrorCode.UNCONFIRMED),
        (dispatched, ErrorCode.DELIVERED_NOT_CONFIRMED),
    ],
    ids=["never-heard-of", "deferred", "uncertain", "dispatched"],
)
async def test_after_the_longest_time_a_message_ends_once(service: Service, evidence: object, code: ErrorCode) -> None:
    ref = reference()
    await service.hear(accepted(ref), *([evidence(ref)] if callable(evidence) else []))
    await age(service)
    confirm = confirming(service)
    await confirm.step(now=START + AGE_MAX - MINUTE)
    assert await service.said(MessageLost) == []
    for _ in range(2):
        await confirm.step(now=START + AGE_MAX + 2 * timedelta(hours=1))
    [lost] = await service.said(MessageLost)
    assert (lost.ref, lost.error_code) == (ref, code)


async def test_answers_to_questions_do_not_make_a_message_younger(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref), dispatched(ref))
    await age(service)
    for days in range(1, 7):
        await service.hear(dispatched(ref), at=START + timedelta(days=days))
    await confirming(service).step(now=START + AGE_MAX + timedelta(hours=2))
    assert [lost.error_code for lost in await service.said(MessageLost)] == [ErrorCode.DELIVERED_NOT_CONFIRMED]


async def test_a_window_longer_than_the_longest_time_is_owed_whole(service: Service) -> None:
    await service.hear(accepted(reference(), window=timedelta(days=30)))
    await age(service)
    await confirming(service).step(now=START + timedelta(days=29))
    assert await service.said(MessageLost) == []


async def test_a_returned_message_is_asked_for_at_once_as_one_that_may_have_left(service: Service) -> None:
    """A dispatcher restored from a dump gives back what it remembers; the ledger may never have heard of it."""
    ref, ended = reference(), reference()
    await service.hear(accepted(ended), changed(ended, Status.CANCELED))
    for one in (ref, ended):
        back = MessageReturned(ref=one, accepted=accepted(one), possibly_sent=True, returned_at=START)
        await service.hear(back, at=START + MINUTE)
    await service.reconcile.step(now=START + MINUTE)
    [command] = await service.said(RequeueMessage)
    assert (command.ref, command.possibly_sent) == (ref, True)


async def test_a_returned_message_that_left_is_not_put_back(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref), dispatched(ref))
    back = MessageReturned(ref=ref, accepted=accepted(ref), possibly_sent=True, returned_at=START)
    await service.hear(back, at=START + MINUTE)
    await service.reconcile.step(now=START + timedelta(hours=3))
    assert await service.said(RequeueMessage) == []


async def test_what_is_asked_for_again_and_again_is_named(service: Service) -> None:
    often, once = reference(), reference()
    await service.hear(accepted(often), accepted(once, due_at=START + timedelta(hours=2)))
    at = START
    for _ in range(REPEATS_FROM + 1):
        at += 10 * MINUTE
        await service.reconcile.step(now=at)
    books = TellBooks(database=service.database, clock=lambda: at)
    told = await books.describe(DescribeLedger())
    [named] = told.repeated
    assert (named.message_id, named.evidence) == (often.message_id, "NONE")
    assert named.requeues >= REPEATS_FROM
    assert told.open == {"NONE": 2}
    assert told.overdue == 1
