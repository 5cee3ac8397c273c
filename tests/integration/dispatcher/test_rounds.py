"""A message in another round: a job of its own, told apart from what is left of the earlier ones."""

from typing import Any

import pytest

from contracts.facts import MessageAccepted, MessageDispatched, MessageDispatchFailed
from contracts.status import Status
from contracts.values import Category
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused, Unknown, UnknownReason

from .fleet import Replica, hear, receipt
from .rig import Rig


def next_round(message: MessageAccepted, **changes: Any) -> MessageAccepted:
    """What the api says when an operator has a message sent again."""
    ref = message.ref.model_copy(update={"round": message.ref.round + 1})
    return message.model_copy(update={"ref": ref, **changes})


async def ready(rig: Rig) -> Replica:
    await rig.open_lane()
    replica = Replica(rig)
    await replica.start()
    return replica


async def test_a_failed_message_is_sent_once_more_in_its_next_round(rig: Rig) -> None:
    replica = await ready(rig)
    message = rig.message()
    await replica.take_in(message)
    rig.gateway.answers.append(Refused(code=RefusalCode.GATEWAY_REFUSED))
    await rig.dispatch()
    again = next_round(message)
    await replica.take_in(again)
    await replica.take_in(again)
    assert len(await rig.dispatch()) == 1
    assert ((await rig.job(message.ref)).state, (await rig.job(again.ref)).state) == ("FAILED", "DISPATCHED")
    [fact] = await rig.said(MessageDispatched)
    assert (fact.ref.round, fact.attempt, fact.duplicate_possible) == (2, 1, False)
    assert len(rig.gateway.sent) == 2


async def test_what_the_api_knows_may_have_left_is_flagged(rig: Rig) -> None:
    replica = await ready(rig)
    message = rig.message()
    await replica.take_in(next_round(message, duplicate_possible=True))
    await rig.dispatch()
    [fact] = await rig.said(MessageDispatched)
    assert fact.duplicate_possible


async def test_a_waiting_earlier_round_is_never_sent_beside_the_next(rig: Rig) -> None:
    """It was given up by somebody else while its job waited here."""
    replica = await ready(rig)
    waiting, backing_off = rig.message(said="a"), rig.message(said="b")
    await replica.take_in(waiting)
    await replica.take_in(backing_off)
    again = [next_round(waiting), next_round(backing_off)]
    await replica.take_in(*again)
    rig.now.pass_(1)
    await rig.promote()
    while await rig.dispatch():
        pass
    assert len(rig.gateway.sent) == 2
    await rig.fail_expired()
    assert {(await rig.job(one.ref)).state for one in (waiting, backing_off)} == {"FAILED"}
    assert {(await rig.job(one.ref)).state for one in again} == {"DISPATCHED"}
    assert {fact.ref.round for fact in await rig.said(MessageDispatchFailed)} == {1}
    assert not any(fact.duplicate_possible for fact in await rig.said(MessageDispatched))


@pytest.mark.parametrize("answer", [NotSent(reason=NotSentReason.UNREACHABLE), Unknown(reason=UnknownReason.TIMEOUT)])
async def test_an_earlier_round_that_is_being_sent_is_not_tried_again_and_the_next_one_is_flagged(
    rig: Rig, answer: Any
) -> None:
    replica = await ready(rig)
    message = rig.message(category=Category.OTP, window=3_600)
    await replica.take_in(message)
    claimed = await rig.claim()
    again = next_round(message)
    await replica.take_in(again)
    rig.gateway.answers.append(answer)
    await rig.carry_out(claimed.attempts[0], claimed.claimed_at)
    rig.gateway.is_mute = True
    for _ in range(200):
        rig.now.pass_(10)
        await rig.resolve()
        await rig.dispatch()
    assert (await rig.job(message.ref)).state == "FAILED"
    assert (await rig.job(again.ref)).state == "DISPATCHED"
    assert len(rig.gateway.sent) == 2
    [fact] = await rig.said(MessageDispatched)
    assert (fact.ref.round, fact.duplicate_possible) == (2, True)


async def test_receipts_count_for_the_round_they_are_about(rig: Rig) -> None:
    replica = await ready(rig)
    message = rig.message()
    again = next_round(message)
    await replica.take_in(message)
    await rig.dispatch()
    await hear(rig, receipt(message.ref, Status.FAILED, at=rig.now()))
    await replica.take_in(again)
    await rig.dispatch()
    await hear(rig, receipt(again.ref, Status.READ, at=rig.now(), key_id="K2"))
    await hear(rig, receipt(message.ref, Status.FAILED, at=rig.now()))
    assert ((await rig.job(message.ref)).receipt, (await rig.job(again.ref)).receipt) == ("FAILED", "READ")


async def test_an_operators_word_outweighs_the_guard_against_repetition(rig: Rig) -> None:
    await rig.open_lane(platform_default=True)
    replica = Replica(rig)
    await replica.start()
    message = rig.message()
    await replica.take_in(message)
    await rig.dispatch()
    repeated = rig.message()
    await replica.take_in(repeated, next_round(message))
    while await rig.dispatch():
        pass
    assert (await rig.job(next_round(message).ref)).state == "DISPATCHED"
    assert (await rig.job(repeated.ref)).error_code == "DUPLICATE_SUPPRESSED"


async def test_a_lost_next_round_is_put_back_like_any_other(rig: Rig) -> None:
    replica = await ready(rig)
    message = rig.message()
    await replica.take_in(message)
    again = next_round(message)
    await replica.requeue(again)
    await rig.dispatch()
    assert (await rig.job(again.ref)).state == "DISPATCHED"
    assert len(rig.gateway.sent) == 1
