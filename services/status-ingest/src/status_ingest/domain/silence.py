"""When a number's gateway has fallen silent, measured against what it usually takes to be heard after a send."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceRules:
    """Silent is a number that handed something over and was then unheard for `patience` times its usual wait.

    Never sooner than `at_least` nor later than `at_most`. An echo may come `slack` before we learn of the send.
    The usual wait is an average in which the newest wait counts `weight`.
    """

    patience: float = 10.0
    at_least: timedelta = timedelta(minutes=5)
    at_most: timedelta = timedelta(hours=24)
    slack: timedelta = timedelta(seconds=30)
    weight: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What is known of a number's sends and of its gateway's events, of whatever kind.

    `unheard_since`: its oldest send after which nothing was heard. `silent_since`: when that was noticed to be long.
    """

    instance: str
    dispatched_at: datetime
    heard_at: datetime | None = None
    unheard_since: datetime | None = None
    usual_wait_seconds: float = 0.0
    silent_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What passed since somebody last looked; `answered_at` is the first event after the send that waited for one."""

    instance: str
    heard_at: datetime | None = None
    answered_at: datetime | None = None
    dispatched_at: datetime | None = None
    unheard_at: datetime | None = None


def followed(known: Traffic | None, passage: Passage, *, now: datetime, rules: SilenceRules) -> Traffic:
    """The traffic after a passage. Looking at the same passage twice changes nothing that matters."""
    before = known or Traffic(instance=passage.instance, dispatched_at=passage.dispatched_at or now)
    unheard, wait = before.unheard_since, None
    if unheard is not None and passage.answered_at is not None:
        wait = max(0.0, (passage.answered_at - unheard).total_seconds())
        unheard = passage.unheard_at
    elif unheard is None:
        unheard = passage.unheard_at
        if passage.dispatched_at is not None and passage.heard_at is not None and unheard is None:
            wait = 0.0
    usual = before.usual_wait_seconds
    return judged(
        Traffic(
            instance=before.instance,
            dispatched_at=max(before.dispatched_at, passage.dispatched_at or before.dispatched_at),
            heard_at=max(filter(None, (before.heard_at, passage.heard_at)), default=None),
            unheard_since=unheard,
            usual_wait_seconds=usual if wait is None else usual + (wait - usual) * rules.weight,
            silent_since=before.silent_since,
        ),
        now=now,
        rules=rules,
    )


def judged(traffic: Traffic, *, now: datetime, rules: SilenceRules) -> Traffic:
    """The traffic with `silent_since` as of `now`: a number that sent nothing since it was heard is not silent."""
    since = traffic.unheard_since
    is_silent = since is not None and now - since >= patience_with(traffic, rules)
    return replace(traffic, silent_since=(traffic.silent_since or now) if is_silent else None)


def patience_with(traffic: Traffic, rules: SilenceRules) -> timedelta:
    """How long a number may be unheard after a send."""
    expected = timedelta(seconds=traffic.usual_wait_seconds * rules.patience)
    return min(max(expected, rules.at_least), rules.at_most)
