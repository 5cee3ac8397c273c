"""What is believed about a lane's connection, one observation at a time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from contracts.errors import ErrorCode
from contracts.facts import NumberConnectionChanged
from contracts.values import ConnectionState
from dispatcher.domain.lanes import (
    NO_INSTANCE,
    Connection,
    ProbeFailed,
    announcement,
    held,
    observed,
    probe_delay,
    probed,
    proved,
    settled,
)
from dispatcher.domain.verdicts import Dispatched, Failed, Held
from gateways import port

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
OPEN = Connection(instance="loja", state=ConnectionState.OPEN, observed_at=NOW - timedelta(hours=1))


def test_a_failed_send_closes_and_is_announced_once() -> None:
    first = held(OPEN, "DISCONNECTED", now=NOW, dice=0.5)
    second = held(first, "DISCONNECTED", now=NOW + timedelta(seconds=9), dice=0.5)
    news = announcement(OPEN, first)
    assert news is not None
    assert (news.state, news.reason, news.observed_at) == (ConnectionState.CLOSE, "DISCONNECTED", NOW)
    assert announcement(first, second) is None
    assert (first.probe_failures, second.probe_failures) == (1, 2)


def test_open_at_once_after_a_failed_send_allows_a_trial_and_no_more() -> None:
    trial = probed(held(OPEN, "DISCONNECTED", now=NOW, dice=0.5), port.ConnectionState.OPEN, now=NOW, dice=0.5)
    assert (trial.state, trial.trial) == (ConnectionState.CLOSE, True)
    assert trial.probe_at is not None
    done = proved(trial, now=NOW)
    assert (done.state, done.trial, done.suspect, done.probe_failures) == (ConnectionState.OPEN, False, False, 0)


@pytest.mark.parametrize("down", [port.ConnectionState.CLOSE, port.ConnectionState.CONNECTING, None])
def test_open_after_the_gateway_admitted_to_be_down_is_believed(down: port.ConnectionState | None) -> None:
    closed = probed(held(OPEN, "DISCONNECTED", now=NOW, dice=0.5), down, now=NOW, dice=0.5)
    assert not closed.suspect
    assert closed.reason == (NO_INSTANCE if down is None else "DISCONNECTED")
    opened = probed(closed, port.ConnectionState.OPEN, now=NOW, dice=0.5)
    assert (opened.state, opened.reason, opened.probe_at) == (ConnectionState.OPEN, None, None)
    assert opened.probe_failures > 0, "one call at a time until one succeeds"


def test_a_gateway_that_does_not_answer_changes_no_belief() -> None:
    before = held(OPEN, "DISCONNECTED", now=NOW, dice=0.5)
    after = probed(before, ProbeFailed(), now=NOW, dice=0.5)
    assert replace(after, probe_at=None, probe_failures=0) == replace(before, probe_at=None, probe_failures=0)
    assert after.probe_failures == before.probe_failures + 1


def test_what_others_saw_counts_only_if_newer() -> None:
    fact = NumberConnectionChanged(instance="loja", state=ConnectionState.CLOSE, observed_at=OPEN.observed_at)
    assert observed(OPEN, fact, now=NOW, dice=0.5) == OPEN
    newer = fact.model_copy(update={"observed_at": OPEN.observed_at + timedelta(microseconds=1)})
    closed = observed(OPEN, newer, now=NOW, dice=0.5)
    assert closed.state is ConnectionState.CLOSE
    assert closed.probe_at is not None


def test_evidence_against_the_connection_outweighs_a_success_beside_it() -> None:
    after = settled(OPEN, [Dispatched(key_id="K"), Held(reason="DISCONNECTED")], now=NOW, dice=0.5)
    assert after.state is ConnectionState.CLOSE
    refused = settled(OPEN, [Failed(code=ErrorCode.GATEWAY_AUTH_FAILED, closes_lane=True)], now=NOW, dice=0.5)
    assert refused.reason == "GATEWAY_AUTH_FAILED"
    assert settled(OPEN, [Failed(code=ErrorCode.WHATSAPP_NOT_EXIST)], now=NOW, dice=0.5) == OPEN


@pytest.mark.parametrize("failures", [0, 1, 5, 6, 50])
@pytest.mark.parametrize("dice", [0.0, 0.999])
def test_probes_wait_between_half_and_all_of_a_bound_that_ends_at_a_minute(failures: int, dice: float) -> None:
    bound = min(60.0, 2.0**failures)
    assert bound / 2 <= probe_delay(failures, dice).total_seconds() <= bound
