"""Whether a number can send: what a failed send, a probe, a webhook and a success each change about that belief."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

from contracts.facts import NumberConnectionChanged
from contracts.values import ConnectionState
from dispatcher.domain.rules import PROBE
from dispatcher.domain.verdicts import Dispatched, Failed, Held, Released, Retry, Uncertain, Verdict
from gateways import port

NO_INSTANCE = "INSTANCE_NOT_FOUND"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """What is believed about one lane's connection.

    `suspect`: sends failed although the gateway has not admitted to be disconnected, so its OPEN alone proves nothing.
    `trial`: one job may be sent to find out. `probe_failures` grows until a send succeeds.
    """

    instance: str
    state: ConnectionState
    reason: str | None = None
    observed_at: datetime
    suspect: bool = False
    trial: bool = False
    probe_at: datetime | None = None
    probe_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFailed:
    """The gateway could not be asked."""


ProbeAnswer = port.ConnectionState | None | ProbeFailed


def probe_delay(failures: int, dice: float) -> timedelta:
    """Between half and all of the backoff's bound: never at once, never in step."""
    return timedelta(seconds=PROBE.bound_seconds(failures + 1) * (0.5 + dice / 2))


def settled(connection: Connection, verdicts: Sequence[Verdict], *, now: datetime, dice: float) -> Connection:
    """After attempts ended: evidence against the connection outweighs a success beside it."""
    closing = [reason for verdict in verdicts if (reason := _closing_reason(verdict)) is not None]
    if closing:
        return held(connection, closing[0], now=now, dice=dice)
    if any(isinstance(verdict, Dispatched) for verdict in verdicts):
        return proved(connection, now=now)
    return connection


def held(connection: Connection, reason: str, *, now: datetime, dice: float) -> Connection:
    """A send showed that the number cannot send now."""
    return replace(
        connection,
        state=ConnectionState.CLOSE,
        reason=reason,
        observed_at=now,
        suspect=True,
        trial=False,
        probe_at=now + probe_delay(connection.probe_failures, dice),
        probe_failures=connection.probe_failures + 1,
    )


def proved(connection: Connection, *, now: datetime) -> Connection:
    """A send succeeded: nothing is a better probe."""
    fresh = replace(connection, suspect=False, trial=False, probe_at=None, probe_failures=0)
    if connection.state is ConnectionState.OPEN:
        return fresh
    return replace(fresh, state=ConnectionState.OPEN, reason=None, observed_at=now)


def probed(connection: Connection, answer: ProbeAnswer, *, now: datetime, dice: float) -> Connection:
    """The gateway was asked. Its OPEN ends a hold, except where it said OPEN while sends failed: then one job tries."""
    later = now + probe_delay(connection.probe_failures, dice)
    failures = connection.probe_failures + 1
    match answer:
        case ProbeFailed():
            return replace(connection, probe_at=later, probe_failures=failures)
        case port.ConnectionState.OPEN if connection.suspect:
            return replace(connection, trial=True, probe_at=later)
        case port.ConnectionState.OPEN:
            return replace(connection, state=ConnectionState.OPEN, reason=None, observed_at=now, probe_at=None)
        case port.ConnectionState.CONNECTING | port.ConnectionState.CLOSE:
            down = replace(connection, suspect=False, trial=False, probe_at=later, probe_failures=failures)
            return replace(down, state=ConnectionState(answer.value), observed_at=now)
        case None:
            down = replace(connection, suspect=False, trial=False, probe_at=later, probe_failures=failures)
            return replace(down, state=ConnectionState.CLOSE, reason=NO_INSTANCE, observed_at=now)
        case _:
            assert_never(answer)


def observed(connection: Connection, fact: NumberConnectionChanged, *, now: datetime, dice: float) -> Connection:
    """Somebody else saw the connection change; what is older than our own knowledge changes nothing."""
    if fact.observed_at <= connection.observed_at:
        return connection
    seen = replace(
        connection, state=fact.state, reason=fact.reason, observed_at=fact.observed_at, suspect=False, trial=False
    )
    if fact.state is ConnectionState.OPEN:
        return replace(seen, probe_at=None)
    return replace(seen, probe_at=now + probe_delay(connection.probe_failures, dice))


def announcement(before: Connection, after: Connection) -> NumberConnectionChanged | None:
    """What to say about the change: only news, so that a flapping gateway is reported once."""
    if before.state is after.state:
        return None
    return NumberConnectionChanged(
        instance=after.instance, state=after.state, reason=after.reason, observed_at=after.observed_at
    )


def _closing_reason(verdict: Verdict) -> str | None:
    match verdict:
        case Held():
            return verdict.reason
        case Failed():
            return verdict.code.value if verdict.closes_lane else None
        case Dispatched() | Retry() | Released() | Uncertain():
            return None
        case _:
            assert_never(verdict)
