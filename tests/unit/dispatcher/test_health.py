"""What receipts and their absence say about a number, and what an outage says about messages."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.facts import ReceiptRecorded
from contracts.status import RANK, Status
from contracts.values import Category, ConnectionState, Environment, MessageRef
from dispatcher.domain.health import (
    UNACKNOWLEDGED,
    Alert,
    FirstContacts,
    HealthRules,
    RecentSends,
    alert_of,
    believed,
    is_silent,
    paused_for_silence,
    refuses_first_contacts,
    weight,
)
from dispatcher.domain.lanes import Connection, held, probed, proved
from dispatcher.domain.recovery import HEARTBEAT, OUTAGE_AFTER, Outage, is_stale, outage_of
from gateways import port

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
RULES = HealthRules()
OPEN = Connection(instance="loja", state=ConnectionState.OPEN, observed_at=NOW - timedelta(hours=1))
REPORTABLE = (Status.SENT, Status.FAILED, Status.DELIVERED, Status.READ)
MINUTE = timedelta(minutes=1)


def receipt(status: Status, ref: MessageRef) -> ReceiptRecorded:
    return ReceiptRecorded.model_validate({"ref": ref, "key_id": "K", "status": status, "occurred_at": NOW})


def reference() -> MessageRef:
    return MessageRef(
        message_id=uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="loja",
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id="order-1",
    )


@pytest.mark.parametrize("order", list(itertools.permutations(REPORTABLE)))
def test_of_many_receipts_the_same_is_believed_in_every_order(order: tuple[Status, ...]) -> None:
    ref, other = reference(), reference()
    found = believed([receipt(status, ref) for status in order] + [receipt(Status.FAILED, other)])
    assert found[ref.message_id, 1].status in (Status.DELIVERED, Status.READ)
    assert found[other.message_id, 1].status is Status.FAILED


def test_receipts_weigh_as_the_public_status_does() -> None:
    for one, other in itertools.pairwise(REPORTABLE):
        assert RANK[one] < RANK[other]
        assert weight(one) <= weight(other)
    assert weight(Status.SENT) < weight(Status.FAILED) < weight(Status.DELIVERED)


@pytest.mark.parametrize(
    ("failed", "arrived", "refused"),
    [(0, 0, False), (2, 0, False), (3, 0, True), (30, 0, True), (3, 1, False), (30, 1, False), (0, 3, False)],
)
def test_case_43_first_contacts_are_refused_if_enough_fail_and_none_arrives(
    failed: int, arrived: int, refused: bool
) -> None:
    found = FirstContacts(instance="loja", failed=failed, arrived=arrived)
    assert refuses_first_contacts(found, RULES) is refused


def sends(*, seen: int = 30, silent: int = 30, since: datetime | None = None, newest: datetime = NOW) -> RecentSends:
    return RecentSends(instance="loja", seen=seen, silent=silent, newest_at=newest, silent_since=since, pauses=True)


@pytest.mark.parametrize(
    ("seen", "silent", "expected"), [(30, 30, True), (30, 29, False), (29, 29, False), (0, 0, False)]
)
def test_case_37_a_number_is_silent_if_none_of_its_last_sends_is_acknowledged(
    seen: int, silent: int, expected: bool
) -> None:
    assert is_silent(sends(seen=seen, silent=silent), RULES) is expected


def test_silence_may_be_most_of_the_last_sends_too() -> None:
    rules = replace(RULES, silent_sends=27)
    assert is_silent(sends(silent=27), rules)
    assert not is_silent(sends(silent=26), rules)


def test_a_silent_lane_is_closed_once_for_each_batch_of_evidence() -> None:
    closed = paused_for_silence(OPEN, sends(), now=NOW, rules=RULES, dice=0.5)
    assert (closed.state, closed.reason, closed.suspect) == (ConnectionState.CLOSE, UNACKNOWLEDGED, True)
    assert closed.probe_at == NOW + RULES.silence_hold
    assert paused_for_silence(closed, sends(), now=NOW, rules=RULES, dice=0.5) == closed
    reopened = proved(closed, now=NOW + 11 * MINUTE)
    old = sends(since=NOW, newest=NOW - MINUTE)
    assert paused_for_silence(reopened, old, now=NOW + 12 * MINUTE, rules=RULES, dice=0.5) == reopened
    fresh = sends(since=NOW, newest=NOW + 13 * MINUTE)
    again = paused_for_silence(reopened, fresh, now=NOW + 24 * MINUTE, rules=RULES, dice=0.5)
    assert again.state is ConnectionState.CLOSE


def test_alerts_name_what_a_human_has_to_do() -> None:
    auth = held(OPEN, "GATEWAY_AUTH_FAILED", now=NOW, dice=0.5)
    assert alert_of(OPEN, auth) is Alert.GATEWAY_AUTH_FAILED
    gone = held(OPEN, "LINKED_WHATSAPP_INSTANCE_NOT_FOUND", now=NOW, dice=0.5)
    assert alert_of(OPEN, gone) is Alert.INSTANCE_NOT_FOUND
    silent = paused_for_silence(OPEN, sends(), now=NOW, rules=RULES, dice=0.5)
    assert alert_of(OPEN, silent) is Alert.UNACKNOWLEDGED
    dropped = held(OPEN, "DISCONNECTED", now=NOW, dice=0.5)
    assert alert_of(OPEN, dropped) is None, "numbers reconnect by themselves"
    assert alert_of(dropped, proved(dropped, now=NOW)) is None
    assert alert_of(OPEN, OPEN) is None


def test_an_instance_that_is_gone_is_told_of_once_however_often_it_is_probed() -> None:
    dropped = held(OPEN, "DISCONNECTED", now=NOW, dice=0.5)
    gone = probed(dropped, None, now=NOW + MINUTE, dice=0.5)
    assert alert_of(dropped, gone) is Alert.INSTANCE_NOT_FOUND
    assert alert_of(gone, probed(gone, None, now=NOW + 2 * MINUTE, dice=0.5)) is None


def test_case_41_a_trial_that_fails_is_an_alert() -> None:
    dropped = held(OPEN, "DISCONNECTED", now=NOW, dice=0.5)
    trial = probed(dropped, port.ConnectionState.OPEN, now=NOW + MINUTE, dice=0.5)
    assert alert_of(dropped, trial) is None
    assert alert_of(trial, held(trial, "DISCONNECTED", now=NOW + 2 * MINUTE, dice=0.5)) is Alert.SENDS_FAIL


@pytest.mark.parametrize("silence", [timedelta(0), HEARTBEAT, OUTAGE_AFTER])
def test_somebody_at_work_is_no_outage(silence: timedelta) -> None:
    assert outage_of(NOW - silence, now=NOW) is None
    assert outage_of(None, now=NOW) is None


def test_an_outage_begins_after_the_last_heartbeat_and_ends_now() -> None:
    found = outage_of(NOW - timedelta(hours=1), now=NOW)
    assert found is not None
    assert NOW - timedelta(hours=1) < found.began_at < NOW - timedelta(minutes=59)
    assert found.ended_at == NOW


@given(
    length=st.timedeltas(timedelta(seconds=61), timedelta(days=3)),
    sla=st.timedeltas(timedelta(milliseconds=1), timedelta(days=1)),
    offset=st.timedeltas(timedelta(days=-4), timedelta(days=4)),
)
def test_stale_is_what_fell_due_in_the_outage_and_longer_ago_than_the_sla(
    length: timedelta, sla: timedelta, offset: timedelta
) -> None:
    outage = Outage(began_at=NOW - length, ended_at=NOW)
    due_at = NOW + offset
    expected = outage.began_at <= due_at < outage.ended_at and due_at < NOW - sla
    assert is_stale(due_at, [outage], sla=sla) is expected
    assert not is_stale(due_at, [], sla=sla)
