"""Silent messages are put back to work once per interval, and given up only when nobody could have worked them."""

import asyncio
from datetime import timedelta

import pytest

from contracts.commands import RequeueMessage
from contracts.errors import ErrorCode
from contracts.facts import MessageLost
from contracts.status import Status
from reconciler.domain.ledger import LedgerFact

from .conftest import GRACE, INTERVAL, RECOVERY_SLA, START, Service, accepted, reference
from .test_ledger import changed, deferred, dispatched, failed, uncertain

SECOND = timedelta(seconds=1)
WINDOW = timedelta(hours=1)
DEADLINE = START + WINDOW + RECOVERY_SLA


async def test_a_due_message_without_evidence_is_requeued_once_per_growing_interval(service: Service) -> None:
    message = accepted(reference())
    await service.hear(message)
    counts = []
    for seconds in (29, 31, 60, 90, 92, 200, 211, 212, 450, 452):
        await service.reconcile.step(now=START + seconds * SECOND)
        counts.append(len(await service.said(RequeueMessage)))
    assert counts == [0, 1, 1, 1, 2, 2, 2, 3, 3, 4]
    command = (await service.said(RequeueMessage))[0]
    assert (command.ref, command.accepted, command.possibly_sent) == (message.ref, message, False)
    assert (await service.row()).requeues == 4


async def test_a_message_not_due_yet_is_left_alone(service: Service) -> None:
    await service.hear(accepted(reference(), due_at=START + timedelta(days=2)))
    await service.reconcile.step(now=START + timedelta(days=1))
    assert await service.said(RequeueMessage) == []


@pytest.mark.parametrize(
    "evidence", [dispatched, failed, lambda ref: changed(ref, Status.DISPATCHED), lambda ref: changed(ref, Status.READ)]
)
async def test_what_has_dispatch_evidence_is_never_requeued_nor_given_up(service: Service, evidence: object) -> None:
    ref = reference()
    assert callable(evidence)
    await service.hear(accepted(ref), evidence(ref))
    for minutes in range(1, 300, 30):
        await service.reconcile.step(now=START + timedelta(minutes=minutes))
    assert await service.said(RequeueMessage) == []
    assert await service.said(MessageLost) == []


async def test_dispatch_evidence_that_came_before_the_message_counts(service: Service) -> None:
    ref = reference()
    await service.hear(dispatched(ref), accepted(ref))
    await service.reconcile.step(now=START + timedelta(hours=5))
    assert await service.said(RequeueMessage) == []


@pytest.mark.parametrize(
    ("make", "silent_for", "possibly_sent"),
    [
        (lambda ref: deferred(ref, seconds=300), 300 * SECOND, False),
        (lambda ref: deferred(ref, seconds=None), timedelta(minutes=10), False),
        (lambda ref: uncertain(ref, seconds=900), 900 * SECOND, True),
    ],
    ids=["deferred", "held", "uncertain"],
)
async def test_a_promise_is_waited_for_and_then_asked_about(
    service: Service, make: object, silent_for: timedelta, possibly_sent: bool
) -> None:
    ref = reference()
    assert callable(make)
    fact: LedgerFact = make(ref)
    await service.hear(accepted(ref), fact)
    await service.reconcile.step(now=START + silent_for + GRACE - SECOND)
    assert await service.said(RequeueMessage) == []
    await service.reconcile.step(now=START + silent_for + GRACE + SECOND)
    (command,) = await service.said(RequeueMessage)
    assert command.possibly_sent is possibly_sent


async def test_an_answer_is_believed_again_for_as_long_as_it_promises(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref))
    await service.reconcile.step(now=START + 31 * SECOND)
    await service.hear(deferred(ref, seconds=3_000), at=START + 32 * SECOND)
    await service.reconcile.step(now=START + 2_000 * SECOND)
    assert len(await service.said(RequeueMessage)) == 1


async def test_two_replicas_at_once_requeue_each_message_once(service: Service, second: Service) -> None:
    refs = [reference() for _ in range(40)]
    for ref in refs:
        await service.hear(accepted(ref))
    for replica in (service, second):
        replica.reconcile.batch_size = 7
    passes = [replica.reconcile.step(now=START + 31 * SECOND) for _ in range(10) for replica in (service, second)]
    await asyncio.gather(*passes)
    said = [command.ref.message_id for command in await service.said(RequeueMessage)]
    assert sorted(said) == sorted(ref.message_id for ref in refs)


async def test_a_full_batch_says_that_there_is_more(service: Service) -> None:
    for _ in range(3):
        await service.hear(accepted(reference()))
    service.reconcile.batch_size = 2
    assert await service.reconcile.step(now=START + 31 * SECOND) is True
    assert await service.reconcile.step(now=START + 31 * SECOND) is False
    assert len(await service.said(RequeueMessage)) == 3


async def test_a_message_nobody_answered_for_is_given_up_after_deadline_and_sla(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref, window=WINDOW))
    await service.reconcile.step(now=DEADLINE - 2 * INTERVAL)
    await service.reconcile.step(now=DEADLINE - SECOND)
    assert await service.said(MessageLost) == []
    await service.reconcile.step(now=DEADLINE + SECOND)
    await service.reconcile.step(now=DEADLINE + INTERVAL + 2 * SECOND)
    (lost,) = await service.said(MessageLost)
    assert (lost.ref, lost.error_code) == (ref, ErrorCode.DELIVERY_TIMEOUT)
    asked = len(await service.said(RequeueMessage))
    await service.reconcile.step(now=DEADLINE + timedelta(days=1))
    assert len(await service.said(MessageLost)) == 1
    assert len(await service.said(RequeueMessage)) == asked
    await service.hear(changed(ref, Status.FAILED))
    assert (await service.row()).closed_at is not None


async def test_a_deferral_followed_by_silence_expires(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref, window=WINDOW), deferred(ref, seconds=60))
    for offset in (-2 * INTERVAL, SECOND, 2 * INTERVAL, 4 * INTERVAL):
        await service.reconcile.step(now=DEADLINE + offset)
    (lost,) = await service.said(MessageLost)
    assert lost.error_code is ErrorCode.MESSAGE_EXPIRED


async def test_an_uncertain_message_is_never_given_up(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref, window=WINDOW), uncertain(ref, seconds=60))
    for hours in range(2, 12):
        await service.reconcile.step(now=START + timedelta(hours=hours))
    assert await service.said(MessageLost) == []
    assert len(await service.said(RequeueMessage)) > 1


async def test_an_answer_to_the_last_request_saves_from_being_given_up(service: Service) -> None:
    ref = reference()
    await service.hear(accepted(ref, window=WINDOW))
    await service.reconcile.step(now=DEADLINE - 2 * INTERVAL)
    await service.hear(deferred(ref, seconds=1), at=DEADLINE - INTERVAL)
    await service.reconcile.step(now=DEADLINE + SECOND)
    await service.reconcile.step(now=DEADLINE + 20 * SECOND)
    assert await service.said(MessageLost) == []


async def test_nothing_is_given_up_on_the_word_of_a_reconciler_that_was_deaf(service: Service) -> None:
    await service.hear(accepted(reference(), window=WINDOW))
    service.connected[0] = False
    for minutes in range(1, 200, 10):
        await service.reconcile.step(now=START + timedelta(minutes=minutes))
    assert await service.said(MessageLost) == []
    service.connected[0] = True
    asked = len(await service.said(RequeueMessage))
    back = START + timedelta(minutes=200)
    minutes = 0
    while len(await service.said(RequeueMessage)) == asked:
        await service.reconcile.step(now=back + timedelta(minutes=minutes))
        assert await service.said(MessageLost) == []
        minutes += 1
        assert minutes < 60
    await service.reconcile.step(now=back + timedelta(minutes=minutes + 1))
    assert len(await service.said(MessageLost)) == 1


async def test_without_a_recovery_sla_nothing_is_given_up(service: Service) -> None:
    await service.hear(accepted(reference(), window=WINDOW))
    service.reconcile.recovery_sla = None
    for hours in range(1, 25):
        await service.reconcile.step(now=START + timedelta(hours=hours))
    assert await service.said(MessageLost) == []
    assert len(await service.said(RequeueMessage)) == 24


async def test_a_silent_next_round_is_put_back_as_that_round(service: Service) -> None:
    first = reference()
    second = first.model_copy(update={"round": 2})
    await service.hear(accepted(first), failed(first), accepted(second))
    await service.reconcile.step(now=START + GRACE + SECOND)
    [command] = await service.said(RequeueMessage)
    assert (command.ref, command.accepted.ref) == (second, second)
