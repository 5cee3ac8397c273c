"""A number's life as customers are told of it: created, connected, disconnected, removed, restored; each once."""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, assert_never
from uuid import UUID

from contracts.facts import NumberConfigured, NumberConnectionChanged, NumberCreated, NumberRemoved, NumberRestored
from contracts.values import ConnectionState, NumberProfile
from notifier.domain.payload import iso_ms

Turn = NumberCreated | NumberRemoved | NumberRestored


class NumberEvent(StrEnum):
    """The published names."""

    CREATED = "number.created"
    CONNECTED = "number.connected"
    DISCONNECTED = "number.disconnected"
    REMOVED = "number.removed"
    RESTORED = "number.restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """What is known of a number. `tenant_id` is None for one of the platform, whose life is nobody's news.

    `version` is that of the newest fact about it, `told_version` that of the newest turn that was told, `news` counts
    what was told. `connected` is what customers were told last; `closed_at` is set while a loss of the connection
    waits to be confirmed.
    """

    number_id: UUID
    instance: str
    tenant_id: UUID | None
    sealed_profile: str | None = field(default=None, repr=False)
    version: int = 0
    told_version: int = 0
    news: int = 0
    removed: bool = False
    connected: bool = False
    observed_at: datetime | None = None
    closed_at: datetime | None = None
    purged_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something to tell about a number; its place in the number's order is the number's `news`."""

    event: NumberEvent
    number: Number
    at: datetime
    sealed_profile: str | None = field(repr=False)


def learned(number: Number, fact: NumberConfigured | Turn) -> Number:
    """The number as its newest fact describes it."""
    if fact.version < number.version:
        return number
    profile = None if number.purged_at else fact.sealed_profile or number.sealed_profile
    return replace(
        number,
        instance=fact.instance,
        tenant_id=fact.tenant_id,
        sealed_profile=profile,
        version=fact.version,
    )


def turned(number: Number, turn: Turn) -> tuple[Number, News | None]:
    """After a turn of its life. Of two turns that overtook each other only the later one is told.

    A connection does not outlive a removal, and a number comes back unconnected: neither is told apart.
    """
    if isinstance(turn, NumberRemoved) and turn.purged:
        return replace(_unconnected(number, turn.at), removed=True, sealed_profile=None, purged_at=turn.at), None
    if turn.version <= number.told_version:
        return number, None
    known = replace(learned(number, turn), told_version=turn.version)
    match turn:
        case NumberCreated():
            return _told(NumberEvent.CREATED, known, at=turn.at, profile=turn.sealed_profile)
        case NumberRemoved():
            gone = replace(_unconnected(known, turn.at), removed=True)
            return _told(NumberEvent.REMOVED, gone, at=turn.at, profile=turn.sealed_profile)
        case NumberRestored():
            back = replace(_unconnected(known, turn.at), removed=False)
            return _told(NumberEvent.RESTORED, back, at=turn.at, profile=turn.sealed_profile)
        case _:
            assert_never(turn)


def observed(number: Number, fact: NumberConnectionChanged) -> tuple[Number, News | None]:
    """After somebody saw its connection: two who saw the same tell the same, and what is older tells nothing.

    CONNECTING is a step on the way, not a loss; a CLOSE counts once it has lasted, see `confirmed`.
    """
    if number.removed or (number.observed_at is not None and fact.observed_at <= number.observed_at):
        return number, None
    seen = replace(number, observed_at=fact.observed_at)
    match fact.state:
        case ConnectionState.OPEN if number.connected:
            return replace(seen, closed_at=None), None
        case ConnectionState.OPEN:
            return _told(NumberEvent.CONNECTED, replace(seen, connected=True), at=fact.observed_at)
        case ConnectionState.CONNECTING:
            return seen, None
        case ConnectionState.CLOSE if number.connected:
            return replace(seen, closed_at=number.closed_at or fact.observed_at), None
        case ConnectionState.CLOSE:
            return seen, None
        case _:
            assert_never(fact.state)


def confirmed(number: Number) -> tuple[Number, News | None]:
    """A loss of the connection lasted: it happened when it was first seen."""
    if number.closed_at is None:
        return number, None
    lost = replace(number, connected=False, closed_at=None)
    return _told(NumberEvent.DISCONNECTED, lost, at=number.closed_at)


def body_of_number(news: News, profile: NumberProfile | None) -> bytes:
    """The exact bytes to sign and send. Where nothing is kept the phone is an empty string, as the contract has it."""
    data: dict[str, Any] = {
        "numberId": str(news.number.number_id),
        "phone": f"+{profile.phone}" if profile and profile.phone else "",
        "displayName": profile.display_name if profile else news.number.instance,
        "createdAt": iso_ms(news.at),
        "version": news.number.news,
    }
    return json.dumps({"event": news.event.value, "data": data}, ensure_ascii=False, separators=(",", ":")).encode()


def _told(event: NumberEvent, number: Number, *, at: datetime, profile: str | None = None) -> tuple[Number, News]:
    counted = replace(number, news=number.news + 1)
    return counted, News(event=event, number=counted, at=at, sealed_profile=profile or counted.sealed_profile)


def _unconnected(number: Number, at: datetime) -> Number:
    newest = max(number.observed_at or at, at)
    return replace(number, connected=False, closed_at=None, observed_at=newest)
