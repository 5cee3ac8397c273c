"""What evidence says about attempts whose answer never came: who was sent, who was not, and what waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.errors import ErrorCode
from contracts.facts.messages import Proof
from contracts.matching import leaves_a_trace
from contracts.parts import Buttons, Media
from contracts.values import ConnectionState, MessageContent
from dispatcher.domain.jobs import Suspect
from dispatcher.domain.rules import LOOKUP, MEDIA_PATIENCE, Rules, resends_when_unresolved
from gateways.reserved import reserved_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A message that the gateway was seen to hand over and that belongs to no job yet."""

    key_id: str
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """It was sent."""

    key_id: str
    proof: Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Resend:
    """It goes back to work; `duplicate_possible` if policy and not evidence decided so."""

    duplicate_possible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """It is not sent again."""

    code: ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Look again later."""

    until: datetime
    failures: int


Conclusion = Confirmed | Resend | GivenUp | Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """What was learnt about a suspect for which no trace was found.

    `looked_up`: the gateway's store was read. `state`: the connection as the gateway reports it. `echoed_at`: when the
    lane was last heard to echo anything.
    """

    looked_up: bool
    state: ConnectionState | None = None
    echoed_at: datetime | None = None


def pair(
    suspects: Sequence[Suspect], traces: Sequence[Trace], *, slack: timedelta
) -> tuple[tuple[Suspect, Trace], ...]:
    """N intents and M traces of one content: the oldest intent gets the oldest trace that is not older than itself.

    A trace under the id that was reserved for an intent is that intent's, whatever its age, and nobody else's.
    """
    own = {reserved_id(*suspect.key): suspect for suspect in suspects}
    named = {trace.key_id: trace for trace in traces if trace.key_id in own}
    pairs = [(own[key_id], trace) for key_id, trace in named.items()]
    found = {suspect.key for suspect, _ in pairs}
    left = sorted(
        [trace for trace in traces if trace.key_id not in own], key=lambda trace: (trace.seen_at, trace.key_id)
    )
    rest = [suspect for suspect in suspects if suspect.key not in found]
    for suspect in sorted(rest, key=lambda suspect: (suspect.since, suspect.key)):
        match = next((trace for trace in left if trace.seen_at >= suspect.since - slack), None)
        if match is not None:
            left.remove(match)
            pairs.append((suspect, match))
    return tuple(pairs)


def conclude(suspect: Suspect, absence: Absence, *, now: datetime, rules: Rules, dice: float) -> Conclusion:
    """For a suspect without a trace: absent for certain, given up at the deadline, or to be looked at again."""
    if _is_certainly_absent(suspect, absence, now):
        if suspect.deliver_until > now:
            return Resend(duplicate_possible=suspect.duplicate_possible)
        return GivenUp(code=ErrorCode.EXPIRED_AFTER_ATTEMPTS)
    if now >= suspect.resolve_by:
        if resends_when_unresolved(suspect.ref.category) and suspect.deliver_until > now:
            return Resend(duplicate_possible=True)
        return GivenUp(code=ErrorCode.UNCONFIRMED)
    return next_look(suspect, absence, now=now, rules=rules, dice=dice)


def next_look(suspect: Suspect, absence: Absence, *, now: datetime, rules: Rules, dice: float) -> Wait:
    """Soon while only an echo can help, at the instant when absence counts, more rarely while the gateway is mute."""
    if now < suspect.resolve_after:
        return Wait(until=min(now + rules.recheck, suspect.resolve_after), failures=0)
    if absence.looked_up:
        return Wait(until=min(now + rules.recheck, suspect.resolve_by), failures=0)
    failures = suspect.check_failures + 1
    pause = timedelta(seconds=LOOKUP.bound_seconds(failures) * (0.5 + dice / 2))
    return Wait(until=min(now + pause, suspect.resolve_by), failures=failures)


def _is_certainly_absent(suspect: Suspect, absence: Absence, now: datetime) -> bool:
    return (
        absence.looked_up
        and now >= suspect.resolve_after
        and absence.state is ConnectionState.OPEN
        and absence.echoed_at is not None
        and absence.echoed_at > suspect.started_at
    )


def silence_counts(
    content: MessageContent, *, stored: Sequence[str | None], started_at: datetime, now: datetime
) -> bool:
    """Whether finding no trace of `content` among the `stored` texts means anything.

    A file without words looks like any other wordless message, and a file takes longer to be seen than our call lasts.
    """
    if not _holds_file(content):
        return True
    told_apart = leaves_a_trace(content) or None not in stored
    return told_apart and now >= started_at + MEDIA_PATIENCE


def _holds_file(content: MessageContent) -> bool:
    part = content.part
    return isinstance(part, Media) or (isinstance(part, Buttons) and part.header is not None)
