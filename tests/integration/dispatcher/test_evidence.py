"""What becomes of attempts whose answer never came: echo, the gateway's memory, absence, and policy at the end."""

from datetime import timedelta
from typing import Any

import pytest

from contracts.errors import ErrorCode
from contracts.facts import MessageDeferred, MessageDispatched, MessageDispatchFailed
from contracts.facts.messages import Proof
from contracts.values import Category, MessageRef
from gateways.port import ConnectionState, Taken, Unknown, UnknownReason

from .rig import RECIPIENT, TEXT, Rig

OTHER = "5547998887777"


async def uncertain(rig: Rig, **options: Any) -> MessageRef:
    """One message whose call timed out."""
    [ref] = await rig.accept(**options)
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    assert (await rig.job(ref)).state == "UNCERTAIN"
    return ref


async def test_case_6_an_echo_after_the_attempt_became_uncertain_confirms_it_at_once(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig)
    rig.now.pass_(3)
    await rig.echo("3EB0ECHO")
    job = await rig.job(ref)
    assert (job.state, job.key_id, job.proof, job.sealed) == ("DISPATCHED", "3EB0ECHO", "echo", None)
    [fact] = await rig.said(MessageDispatched)
    assert (fact.ref, fact.key_id, fact.proof) == (ref, "3EB0ECHO", Proof.ECHO)
    assert len(rig.gateway.sent) == 1


async def test_case_38_an_echo_before_the_attempt_became_uncertain_confirms_it_too(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(Unknown(reason=UnknownReason.CONNECTION_LOST))
    [attempt] = (await rig.claim()).attempts
    await rig.echo("3EB0EARLY")
    await rig.carry_out(attempt)
    assert (await rig.job(ref)).state == "UNCERTAIN"
    rig.now.pass_(1)
    await rig.resolve()
    assert (await rig.job(ref)).key_id == "3EB0EARLY"
    assert rig.gateway.lookups == 0


async def test_the_echo_of_a_changed_jid_still_matches(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig, to="5547991234567")
    await rig.echo("3EB0", to="554791234567")
    assert (await rig.job(ref)).state == "DISPATCHED"


@pytest.mark.parametrize("what", ["other text", "other recipient", "older", "other lane", "already another's"])
async def test_an_echo_of_something_else_proves_nothing(rig: Rig, what: str) -> None:
    await rig.open_lane()
    if what == "older":
        await rig.echo("3EB0")
        rig.now.pass_(6)
    if what == "already another's":
        await rig.accept()
        rig.gateway.answers.append(Taken(key_id="3EB0"))
        await rig.dispatch()
    ref = await uncertain(rig)
    match what:
        case "other text":
            await rig.echo("3EB0", said="something else")
        case "other recipient":
            await rig.echo("3EB0", to=OTHER)
        case "other lane":
            await rig.echo("3EB0", instance="elsewhere")
        case "already another's":
            await rig.echo("3EB0")
    await rig.resolve()
    assert (await rig.job(ref)).state == "UNCERTAIN"


async def test_an_echo_waits_while_the_same_text_is_being_sent_again(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig)
    [second] = await rig.accept()
    [attempt] = (await rig.claim()).attempts
    await rig.echo("3EB0SECOND")
    assert (await rig.job(ref)).state == "UNCERTAIN", "it may be the echo of the call that is under way"
    rig.gateway.answers.append(Taken(key_id="3EB0SECOND"))
    await rig.carry_out(attempt)
    assert (await rig.job(second)).key_id == "3EB0SECOND"
    rig.now.pass_(10)
    await rig.resolve()
    assert (await rig.job(ref)).state == "UNCERTAIN"


async def test_n_intents_and_m_echoes_confirm_the_oldest_m(rig: Rig) -> None:
    await rig.open_lane()
    refs = []
    for _ in range(3):
        refs.append(await uncertain(rig))
        rig.now.pass_(1)
    await rig.echo("E1")
    rig.now.pass_(1)
    await rig.echo("E2")
    assert [(await rig.job(ref)).key_id for ref in refs] == ["E1", "E2", None]


async def test_the_gateways_memory_confirms_the_oldest_m_of_n(rig: Rig) -> None:
    await rig.open_lane()
    refs = []
    for number in range(3):
        refs.append(await uncertain(rig))
        if number < 2:
            rig.gateway.store(RECIPIENT, f"  {TEXT}\n", f"S{number}")
        rig.now.pass_(1)
    rig.gateway.store(RECIPIENT, "something else", "S9")
    await rig.resolve()
    assert rig.gateway.lookups == 0, "not before the absence could be believed"
    rig.now.pass_(60)
    await rig.resolve()
    jobs = [await rig.job(ref) for ref in refs]
    assert [(job.state, job.key_id, job.proof) for job in jobs[:2]] == [
        ("DISPATCHED", "S0", "lookup"),
        ("DISPATCHED", "S1", "lookup"),
    ]
    assert jobs[2].state == "UNCERTAIN"
    assert [fact.proof for fact in await rig.said(MessageDispatched)] == [Proof.LOOKUP, Proof.LOOKUP]


async def test_ids_of_other_jobs_are_dropped_from_what_the_memory_holds(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept()
    rig.gateway.answers.append(Taken(key_id="MINE"))
    await rig.dispatch()
    rig.gateway.store(RECIPIENT, TEXT, "MINE")
    ref = await uncertain(rig)
    rig.now.pass_(61)
    await rig.resolve()
    assert (await rig.job(ref)).state == "UNCERTAIN"


async def test_absent_connected_and_echoing_is_sent_again_unflagged(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig)
    rig.now.pass_(30)
    await rig.echo("OTHERS", said="to somebody else", to=OTHER)
    await rig.resolve()
    assert (await rig.job(ref)).state == "UNCERTAIN", "too early to believe it"
    rig.now.pass_(30)
    await rig.resolve()
    job = await rig.job(ref)
    assert (job.state, job.duplicate_possible, job.attempt) == ("SCHEDULED", False, 1)
    assert [(fact.reason, fact.detail) for fact in await rig.said(MessageDeferred)] == [("RETRY", "ABSENT")]
    await rig.dispatch()
    [fact] = await rig.said(MessageDispatched)
    assert (fact.attempt, fact.duplicate_possible) == (2, False)


@pytest.mark.parametrize("missing", ["echo", "connection", "memory", "echo only before"])
async def test_absence_is_not_believed_without(rig: Rig, missing: str) -> None:
    await rig.open_lane()
    if missing == "echo only before":
        await rig.echo("OTHERS", to=OTHER)
        rig.now.pass_(1)
    ref = await uncertain(rig)
    rig.now.pass_(30)
    if missing not in ("echo", "echo only before"):
        await rig.echo("OTHERS", to=OTHER)
    if missing == "connection":
        rig.gateway.state = ConnectionState.CLOSE
    if missing == "memory":
        rig.gateway.is_mute = True
    for _ in range(20):
        rig.now.pass_(35)
        await rig.resolve()
        assert (await rig.job(ref)).state == "UNCERTAIN"
    assert len(rig.gateway.sent) == 1


async def test_a_late_echo_stops_a_job_that_was_believed_absent(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig)
    rig.now.pass_(60)
    await rig.echo("OTHERS", to=OTHER)
    await rig.resolve()
    assert (await rig.job(ref)).state == "SCHEDULED"
    await rig.promote()
    assert (await rig.job(ref)).state == "READY"
    await rig.echo("3EB0LATE")
    assert (await rig.job(ref)).key_id == "3EB0LATE"
    assert await rig.dispatch() == []


async def test_certainly_absent_but_too_late_fails(rig: Rig) -> None:
    await rig.open_lane()
    await uncertain(rig, category=Category.MARKETING, window=50)
    await rig.echo("OTHERS", to=OTHER)
    rig.now.pass_(1)
    await rig.echo("MORE", to=OTHER)
    rig.now.pass_(60)
    await rig.resolve()
    [fact] = await rig.said(MessageDispatchFailed)
    assert fact.error_code == ErrorCode.EXPIRED_AFTER_ATTEMPTS


async def test_policy_resends_a_utility_message_flagged(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig, category=Category.UTILITY)
    rig.gateway.is_mute = True
    rig.now.pass_(899)
    await rig.resolve()
    assert (await rig.job(ref)).state == "UNCERTAIN"
    rig.now.pass_(1)
    await rig.resolve()
    assert (await rig.job(ref)).duplicate_possible
    await rig.dispatch()
    [fact] = await rig.said(MessageDispatched)
    assert (fact.duplicate_possible, fact.attempt) == (True, 2)


async def test_policy_resends_an_otp_only_while_it_is_of_use(rig: Rig) -> None:
    await rig.open_lane()
    first = await uncertain(rig, category=Category.OTP, window=120, said="code 1")
    second = await uncertain(rig, category=Category.OTP, window=65, said="code 2")
    rig.gateway.is_mute = True
    rig.now.pass_(112)
    await rig.resolve()
    assert ((await rig.job(first)).state, (await rig.job(first)).duplicate_possible) == ("SCHEDULED", True)
    assert ((await rig.job(second)).state, (await rig.job(second)).error_code) == ("FAILED", "UNCONFIRMED")


async def test_policy_fails_a_marketing_message_unconfirmed(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig, category=Category.MARKETING, window=14_400)
    rig.now.pass_(900)
    await rig.resolve()
    job = await rig.job(ref)
    assert (job.state, job.error_code, job.sealed) == ("FAILED", "UNCONFIRMED", None)
    [fact] = await rig.said(MessageDispatchFailed)
    assert (fact.error_code, fact.attempt) == (ErrorCode.UNCONFIRMED, 1)
    assert len(rig.gateway.sent) == 1


async def test_a_flagged_resend_that_expires_is_unconfirmed_and_not_merely_expired(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig, window=3_600)
    rig.gateway.is_mute = True
    rig.now.pass_(900)
    await rig.resolve()
    rig.now.pass_(2_700)
    await rig.dispatch()
    assert (await rig.job(ref)).error_code == "UNCONFIRMED"


async def test_a_mute_gateway_is_asked_more_and_more_rarely(rig: Rig) -> None:
    await rig.open_lane()
    ref = await uncertain(rig)
    rig.gateway.is_mute = True
    rig.now.pass_(60)
    waits = []
    for _ in range(4):
        await rig.resolve()
        job = await rig.job(ref)
        waits.append((job.next_check_at - rig.now()).total_seconds())
        rig.now.value = job.next_check_at
    assert waits == sorted(waits)
    assert waits[0] < waits[-1]


async def test_only_one_replica_looks_at_an_uncertain_job(rig: Rig) -> None:
    from dispatcher.store import suspects

    await rig.open_lane()
    await uncertain(rig)
    rig.now.pass_(61)
    taken = []
    for _ in range(2):
        async with rig.database.transaction() as tx:
            found, _now = await suspects.take_due(tx, limit=10, busy=timedelta(seconds=60), now=rig.now())
            taken.append(len(found))
    assert taken == [1, 0]
