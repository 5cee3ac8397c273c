"""Runs lanes through days of traffic in virtual time; the same seed gives the same run."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from dispatcher.domain.lane_pace import fresh_pace
from dispatcher.domain.pacing import terms_of

from .measures import Journal
from .store import Lane
from .traffic import BEGIN, PROFILES, Message, Profile, traffic

CLAIM_LATENESS_SECONDS = 0.020


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is simulated."""

    tenants: int = 1_000
    messages: int = 1_000_000
    lanes: int = 10
    days: float = 7
    seed: int = 1


def run(size: Size) -> Iterator[Journal]:
    """One lane after the other, since lanes do not touch each other."""
    for number in range(size.lanes):
        profile = PROFILES[number % len(PROFILES)]
        random = Random(f"{size.seed}/{number}")
        per_lane = size.tenants // size.lanes
        tenants = range(number * per_lane, (number + 1) * per_lane)
        messages = traffic(
            profile, messages=size.messages // size.lanes, tenants=tenants, days=size.days, random=random
        )
        yield live(profile, messages, random)


def live(profile: Profile, messages: list[Message], random: Random) -> Journal:
    """A lane from its first message until nothing waits."""
    journal = Journal(profile=profile)
    lane = Lane(pace=fresh_pace(BEGIN), terms=terms_of(profile.policy), max_in_flight=profile.policy.max_in_flight)
    coming = deque(messages)
    clock = BEGIN
    for now in _instants(lane, coming):
        lane.settle(now)
        while coming and coming[0].at <= now:
            journal.came(lane.take_in(coming.popleft()))
        if lane.wake_at is not None and lane.wake_at <= now:
            clock = max(clock, now + timedelta(seconds=random.random() * CLAIM_LATENESS_SECONDS))
            _claim(lane, journal, clock, random)
    return journal


def _claim(lane: Lane, journal: Journal, now: datetime, random: Random) -> None:
    for waiting in lane.claim(now, random.random, journal.expire):
        new = waiting.message.recipient not in lane.contacts
        lane.contacts.add(waiting.message.recipient)
        journal.went(waiting, now, first_contact=new)
        lane.call(now + timedelta(seconds=journal.profile.call_seconds * (0.5 + random.random())))


def _instants(lane: Lane, coming: deque[Message]) -> Iterator[datetime]:
    """When something happens next, until nothing does."""
    while True:
        instants = [coming[0].at] if coming else []
        if lane.wake_at is not None:
            instants.append(lane.wake_at)
        elif lane.in_flight:
            instants.append(lane.in_flight[0])
        if not instants:
            return
        yield min(instants)
