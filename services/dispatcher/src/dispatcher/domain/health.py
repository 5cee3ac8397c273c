"""What receipts and their absence say about a number: its first contacts are refused, or nothing of it arrives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from contracts.facts import ReceiptRecorded
from contracts.status import Status
from contracts.values import ConnectionState
from dispatcher.domain.jobs import JobKey
from dispatcher.domain.lanes import Connection, held

UNACKNOWLEDGED = "UNACKNOWLEDGED"
"""Why a lane is closed whose policy says so: what it hands over is never acknowledged."""

_WEIGHT = {Status.SENT: 1, Status.FAILED: 2, Status.DELIVERED: 3, Status.READ: 3}
"""Of two receipts of one message, the weightier is believed; a delivery outweighs an earlier failure."""


class Alert(StrEnum):
    """The closed set of things about a number that somebody should look into."""

    FIRST_CONTACTS_REFUSED = "first_contacts_refused"
    UNACKNOWLEDGED = "unacknowledged"
    SENDS_FAIL = "sends_fail"
    GATEWAY_AUTH_FAILED = "gateway_auth_failed"
    INSTANCE_NOT_FOUND = "instance_not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRules:
    """When somebody should look into a number.

    `failures_max` first contacts reported failed within `failures_within`, and none that arrived, stop first contacts
    for `cold_hold`. `silent_sends` of the last `silent_of` sends without a receipt, each older than `silent_after`, are
    noticed; a lane whose policy says so is closed for `silence_hold` and then tried by one message.
    """

    failures_max: int = 3
    failures_within: timedelta = timedelta(minutes=10)
    cold_hold: timedelta = timedelta(hours=24)
    silent_sends: int = 30
    silent_of: int = 30
    silent_after: timedelta = timedelta(minutes=10)
    silence_hold: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstContacts:
    """How the first contacts of one lane ended that were heard of within a window."""

    instance: str
    failed: int
    arrived: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentSends:
    """The last sends of a lane that are old enough to be judged.

    `silent` of `seen` had no receipt, `newest_at` is when the last of them left; `silent_since`: it was noticed before.
    `pauses`: the lane's policy wants it closed then.
    """

    instance: str
    seen: int
    silent: int
    newest_at: datetime | None
    silent_since: datetime | None
    pauses: bool


def believed(facts: Sequence[ReceiptRecorded]) -> dict[JobKey, ReceiptRecorded]:
    """Of each job the receipt to believe, whatever their order."""
    found: dict[JobKey, ReceiptRecorded] = {}
    for fact in facts:
        key = (fact.ref.message_id, fact.ref.round)
        known = found.get(key)
        if known is None or weight(fact.status) > weight(known.status):
            found[key] = fact
    return found


def weight(status: Status) -> int:
    """The order of receipts; raises KeyError for a status that is none."""
    return _WEIGHT[status]


def refuses_first_contacts(found: FirstContacts, rules: HealthRules) -> bool:
    """Whether WhatsApp keeps the number from writing to people who do not know it."""
    return found.arrived == 0 and found.failed >= rules.failures_max


def is_silent(sends: RecentSends, rules: HealthRules) -> bool:
    """Whether what the number hands over seems to go nowhere."""
    return sends.seen >= rules.silent_of and sends.silent >= rules.silent_sends


def paused_for_silence(
    connection: Connection, sends: RecentSends, *, now: datetime, rules: HealthRules, dice: float
) -> Connection:
    """Closed once for each batch of evidence: what was sent before the lane last opened does not count again."""
    if connection.state is not ConnectionState.OPEN or sends.newest_at is None:
        return connection
    if sends.silent_since is not None and sends.newest_at <= connection.observed_at:
        return connection
    closed = held(connection, UNACKNOWLEDGED, now=now, dice=dice)
    return replace(closed, probe_at=now + rules.silence_hold)


def alert_of(before: Connection, after: Connection) -> Alert | None:
    """What somebody should look into: a lane closed for such a reason, or failed once more when it was tried."""
    if after.state is not ConnectionState.CLOSE:
        return None
    if before.suspect and after.suspect and after.observed_at > before.observed_at:
        return Alert.SENDS_FAIL
    if before.state is after.state and before.reason == after.reason:
        return None
    match after.reason:
        case "GATEWAY_AUTH_FAILED":
            return Alert.GATEWAY_AUTH_FAILED
        case "LINKED_WHATSAPP_INSTANCE_NOT_FOUND" | "INSTANCE_NOT_FOUND":
            return Alert.INSTANCE_NOT_FOUND
        case "UNACKNOWLEDGED":
            return Alert.UNACKNOWLEDGED
        case _:
            return None
