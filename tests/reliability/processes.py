"""A world of dispatcher processes for tests that stop, kill and starve them: what is in it and what came of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tests.integration.dispatcher.process import World
from tests.integration.dispatcher.rig import Rig
from tests.reliability.ledger import Promise, Send, Violation, balance, sends_of

from chassis.testing.waiting import eventually
from contracts.errors import ErrorCode
from contracts.facts import MessageAccepted
from contracts.status import Status
from dispatcher.domain.jobs import JobState

STATUS_OF = {
    JobState.SCHEDULED: Status.QUEUED,
    JobState.READY: Status.QUEUED,
    JobState.IN_FLIGHT: Status.QUEUED,
    JobState.UNCERTAIN: Status.QUEUED,
    JobState.DISPATCHED: Status.SENT,
    JobState.FAILED: Status.FAILED,
    JobState.CANCELED: Status.CANCELED,
}
"""What a client would read, if the gateway's acknowledgement followed at once."""

OPEN = "SELECT count(*) AS jobs FROM dispatcher.jobs WHERE finished_at IS NULL"


async def settled(rig: Rig, count: int, *, within_seconds: float) -> None:
    """Return once `count` jobs have ended; raises `AssertionError` telling of those that have not."""

    async def all_ended() -> bool:
        [row] = await rig.rows(
            "SELECT count(*) AS jobs, count(*) FILTER (WHERE finished_at IS NULL) AS open FROM dispatcher.jobs"
        )
        return bool(row.jobs == count and row.open == 0)

    try:
        await eventually(all_ended, f"{count} jobs at their end", timeout_seconds=within_seconds)
    except AssertionError as error:
        rows = await rig.rows(
            "SELECT instance, state, attempt, reason, next_check_at - now() AS check_in,"
            " resolve_by - now() AS resolve_in FROM dispatcher.jobs WHERE finished_at IS NULL LIMIT 5"
        )
        raise AssertionError("\n".join(map(str, [error, *rows]))) from error


async def promises(rig: Rig, texts: dict[Any, str]) -> list[Promise]:
    """How the messages ended; a message without a job is still QUEUED. `texts` by message id."""
    rows = await rig.rows(
        "SELECT message_id, state, error_code, duplicate_possible, deliver_until FROM dispatcher.jobs"
    )
    known = {row.message_id: row for row in rows}
    return [_promise(text, known.get(message_id)) for message_id, text in texts.items()]


async def violations(world: World, rig: Rig, texts: dict[Any, str]) -> Sequence[Violation]:
    """The books of a world, balanced."""
    return balance(await promises(rig, texts), await sends(world))


async def sends(world: World) -> list[Send]:
    """Everything the gateway accepted."""
    return sends_of(await world.ledger())


def texts_of(messages: Sequence[tuple[MessageAccepted, str]]) -> dict[Any, str]:
    """Texts by message id."""
    return {message.ref.message_id: text for message, text in messages}


async def lost_leases(rig: Rig) -> int:
    """How many attempts were taken away from whoever made them."""
    [row] = await rig.rows("SELECT count(*) AS attempts FROM dispatcher.attempts WHERE reason = 'LEASE_LOST'")
    return int(row.attempts)


def _promise(text: str, row: Any) -> Promise:
    if row is None:
        return Promise(name=text, status=Status.QUEUED)
    until: datetime = row.deliver_until
    return Promise(
        name=text,
        status=STATUS_OF[JobState(row.state)],
        error_code=None if row.error_code is None else ErrorCode(row.error_code),
        duplicate_possible=row.duplicate_possible,
        deliver_until=until,
    )
