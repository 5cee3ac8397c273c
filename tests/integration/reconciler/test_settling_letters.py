"""A dead letter is explained, replayed through the queue it died in, or discarded; each time is remembered."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chassis.seal import KeyRing
from contracts.commands import RequeueMessage
from contracts.facts import MessageAccepted
from contracts.questions import Rejected
from contracts.repair_questions import (
    DeadLetterExplained,
    DiscardDeadLetters,
    FindDeadLetter,
    LetterState,
    ListDeadLetters,
    ReplayDeadLetters,
)
from contracts.statement import Statement
from reconciler.domain.dead_letters import BODY_BYTES_MAX, DeadLetter, dead_letter_of
from reconciler.usecases.read_letters import ReadLetters
from reconciler.usecases.settle_letters import SettleLetters

from .conftest import KEY_RING, START, Service, accepted, reference

LANE = "messages--loja"
OTHER_RING = KeyRing.parse("k2:eHl6NDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=")
SECOND = timedelta(seconds=1)


def sealed_accepted(ring: KeyRing = KEY_RING) -> MessageAccepted:
    ref = reference()
    return accepted(ref).model_copy(update={"sealed": ring.seal(b"{}", aad=ref.message_id.bytes)})


def dead(
    statement: Statement | bytes,
    *,
    queue: str = LANE,
    reason: str = "rejected",
    at: datetime = START,
    type_name: str | None = None,
    message_id: str | None = "",
    sent_at: datetime | None = START,
    headers: Mapping[str, Any] | None = None,
) -> DeadLetter:
    """As the broker hands it over."""
    body = statement if isinstance(statement, bytes) else statement.body()
    history = {"queue": queue, "reason": reason, "count": 1, "time": at, "routing-keys": ["k"]}
    return dead_letter_of(
        body=body,
        message_id=str(uuid4()) if message_id == "" else message_id,
        type_name=type_name or (None if isinstance(statement, bytes) else statement.TYPE),
        routing_key="k",
        headers={"x-death": [history], "cloudEvents:time": START.isoformat(), **(headers or {})},
        sent_at=sent_at,
        now=at,
    )


class Desk:
    """An operator's desk at an instant."""

    def __init__(self, service: Service, now: datetime = START, ring: KeyRing = KEY_RING) -> None:
        self.read = ReadLetters(database=service.database, key_ring=ring, clock=lambda: now)
        self.settle = SettleLetters(database=service.database, key_ring=ring, clock=lambda: now)

    async def explained(self, letter: DeadLetter) -> DeadLetterExplained:
        found = await self.read.one(FindDeadLetter(letter_id=letter.id))
        assert isinstance(found, DeadLetterExplained)
        return found

    async def replay(self, *letters: DeadLetter) -> dict[UUID, str]:
        """What became of each."""
        done = await self.settle.replay(ReplayDeadLetters(letter_ids=tuple(letter.id for letter in letters)))
        return dict.fromkeys(done.settled, "REPLAYED") | {kept.letter_id: kept.code for kept in done.kept}


async def test_a_replay_goes_into_its_queue_under_its_id_and_the_time_of_its_first_saying(service: Service) -> None:
    statement = sealed_accepted()
    letter = dead(statement)
    await service.letters.submit(letter)
    assert await Desk(service).replay(letter) == {letter.id: "REPLAYED"}
    [row] = await service.rows("SELECT * FROM reconciler.outbox")
    assert (row.exchange, row.routing_key, row.type) == ("", LANE, statement.TYPE)
    assert (row.statement_id, row.said_at, row.body) == (letter.statement_id, START, statement.body())
    told = (await Desk(service).explained(letter)).letter
    assert (told.state, told.replays, told.settled_at) == (LetterState.REPLAYED, 1, START)
    assert told.message_id == statement.ref.message_id
    assert await Desk(service).replay(letter) == {letter.id: "NOT_WAITING"}


async def test_a_letter_that_dies_again_waits_again_and_one_that_is_told_twice_does_not(service: Service) -> None:
    first = dead(sealed_accepted(), message_id="7f0c7b0e-0000-7000-8000-000000000001")
    body = first.body
    await service.letters.submit(first)
    await Desk(service).replay(first)

    async def again(at: datetime) -> Any:
        await service.letters.submit(
            dead(body, type_name=first.type, message_id="7f0c7b0e-0000-7000-8000-000000000001", at=at)
        )
        return (await Desk(service).explained(first)).letter

    told = await again(START - SECOND)
    assert (told.state, told.count) == (LetterState.REPLAYED, 1)
    told = await again(START + SECOND)
    assert (told.state, told.count, told.replays) == (LetterState.WAITING, 2, 1)
    assert (told.first_died_at, told.last_died_at) == (START, START + SECOND)


@pytest.mark.parametrize("wrapped", [False, True], ids=["accepted", "requeue"])
async def test_what_is_over_is_not_replayed(service: Service, wrapped: bool) -> None:
    statement: MessageAccepted | RequeueMessage = sealed_accepted()
    assert isinstance(statement, MessageAccepted)
    until = statement.deliver_until
    queue = LANE
    if wrapped:
        statement, queue = RequeueMessage(ref=statement.ref, accepted=statement), "dispatcher.commands"
    letter = dead(statement, queue=queue)
    await service.letters.submit(letter)
    late = Desk(service, now=until)
    explained = await late.explained(letter)
    assert not explained.replayable
    assert "not sent late" in explained.replay
    assert await late.replay(letter) == {letter.id: "WINDOW_OVER"}
    assert await Desk(service, now=until - SECOND).replay(letter) == {letter.id: "REPLAYED"}


async def test_a_key_that_is_back_cures(service: Service) -> None:
    letter = dead(sealed_accepted(OTHER_RING))
    await service.letters.submit(letter)
    assert await Desk(service).replay(letter) == {letter.id: "UNKNOWN_KEY"}
    both = KeyRing.parse(
        "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,k2:eHl6NDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
    )
    mended = Desk(service, ring=both)
    explained = await mended.explained(letter)
    assert explained.replayable
    assert "key ring" in explained.why
    assert await mended.replay(letter) == {letter.id: "REPLAYED"}


@pytest.mark.parametrize(
    ("letter", "cause"),
    [
        (dead(b"\x00\xff", type_name="message.accepted.v1"), "NOT_JSON"),
        (dead(b"[" * 100_000, type_name="message.accepted.v1"), "NOT_JSON"),
        (dead(b"1" * 100_000, type_name="message.accepted.v1"), "NOT_JSON"),
        (dead(b'{"ref":{"message_id":"\\u0000"}}', type_name="message.accepted.v1"), "INVALID_FIELDS"),
        (dead(b"{}", type_name="message.accepted.v1"), "INVALID_FIELDS"),
        (dead(b"{}", type_name="message.teleported.v1"), "UNKNOWN_TYPE"),
        (dead(b"{}", type_name="message.accepted.v9"), "OLD_VERSION"),
        (dead(b"{}"), "NO_TYPE"),
        (dead(b"{}", type_name="\x00" * 400), "UNKNOWN_TYPE"),
        (dead(b" " * (BODY_BYTES_MAX + 1), type_name="message.accepted.v1"), "TOO_LARGE"),
        (dead(sealed_accepted(), queue="nowhere"), "NO_QUEUE"),
        (dead(sealed_accepted(), queue="notifier.numbers"), "WRONG_QUEUE"),
        (dead(accepted(reference())), "SEAL_BROKEN"),
        (dead(sealed_accepted(), headers={"x-death": "nonsense", "traceparent": 7}), "NO_QUEUE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_would_die_the_same_way_is_kept_and_says_why(
    service: Service, letter: DeadLetter, cause: str
) -> None:
    await service.letters.submit(letter)
    desk = Desk(service)
    explained = await desk.explained(letter)
    assert (explained.letter.cause, explained.replayable) == (cause, False)
    assert explained.letter.error in explained.why
    assert await desk.replay(letter) == {letter.id: cause}
    assert await service.rows("SELECT 1 FROM reconciler.outbox") == []


@pytest.mark.parametrize(
    ("letter", "cause"),
    [
        (dead(sealed_accepted(), message_id=None), "NO_ID"),
        (dead(sealed_accepted(), message_id="no id"), "NO_ID"),
        (dead(sealed_accepted(), sent_at=None), "NO_TIME"),
        (dead(sealed_accepted(), reason="delivery_limit"), "LISTENER_FAILED"),
        (dead(sealed_accepted()), "NOTHING_FOUND"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_a_replay_may_cure_is_replayed(service: Service, letter: DeadLetter, cause: str) -> None:
    await service.letters.submit(letter)
    assert (await Desk(service).explained(letter)).letter.cause == cause
    assert await Desk(service).replay(letter) == {letter.id: "REPLAYED"}
    [row] = await service.rows("SELECT statement_id FROM reconciler.outbox")
    assert row.statement_id is not None


async def test_all_of_a_kind_go_back_in_bounded_steps_past_those_that_stay(service: Service) -> None:
    letters = [dead(sealed_accepted() if n % 2 else b"no", type_name=MessageAccepted.TYPE) for n in range(6)]
    stranger = dead(sealed_accepted(), queue="messages--other")
    for letter in (*letters, stranger):
        await service.letters.submit(letter)
    desk, after, replayed, kept = Desk(service), None, 0, 0
    for _ in range(10):
        done = await desk.settle.replay(ReplayDeadLetters(queue=LANE, limit=2, after=after))
        replayed, kept, after = replayed + len(done.settled), kept + len(done.kept), done.last
        if after is None:
            break
    assert (replayed, kept) == (3, 3)
    assert (await desk.explained(stranger)).letter.state is LetterState.WAITING


async def test_a_discarded_letter_has_its_reason_and_is_not_replayed(service: Service) -> None:
    letter, nobody = dead(sealed_accepted()), uuid4()
    await service.letters.submit(letter)
    desk = Desk(service)
    done = await desk.settle.discard(DiscardDeadLetters(letter_ids=(letter.id, nobody), reason="From a test."))
    assert (done.settled, [kept.code for kept in done.kept]) == ((letter.id,), ["NOT_FOUND"])
    told = (await desk.explained(letter)).letter
    assert (told.state, told.note) == (LetterState.DISCARDED, "From a test.")
    assert await desk.replay(letter) == {letter.id: "NOT_WAITING"}
    again = await desk.settle.discard(DiscardDeadLetters(letter_ids=(letter.id,), reason="Again."))
    assert [kept.code for kept in again.kept] == ["NOT_WAITING"]


async def test_letters_are_found_by_what_they_are(service: Service) -> None:
    one, two = dead(sealed_accepted()), dead(b"no", type_name="x", queue="api.messages", reason="expired")
    for letter in (one, two):
        await service.letters.submit(letter)
    read = Desk(service).read

    async def ids(**wanted: Any) -> list[UUID]:
        return [letter.letter_id for letter in (await read.page(ListDeadLetters(**wanted))).letters]

    assert await ids() == [two.id, one.id]
    assert await ids(queue="api.messages") == await ids(reason="expired") == await ids(type="x") == [two.id]
    assert await ids(message_id=one.message_id) == [one.id]
    assert await ids(state=LetterState.REPLAYED) == []
    assert await ids(filed_from=datetime.now(UTC) + timedelta(hours=1)) == []
    assert await ids(filed_until=datetime.now(UTC) + timedelta(hours=1)) == [two.id, one.id]
    page = await read.page(ListDeadLetters(limit=1))
    assert (page.more, [letter.letter_id for letter in page.letters]) == (True, [two.id])
    assert await ids(limit=1, before=page.letters[0].number) == [one.id]


async def test_nothing_of_a_content_is_told(service: Service) -> None:
    letter = dead(json.dumps({"phone": "5547988776655"}).encode(), type_name=MessageAccepted.TYPE)
    await service.letters.submit(letter)
    assert "5547988776655" not in (await Desk(service).explained(letter)).model_dump_json()


async def test_an_unknown_letter_is_said_so(service: Service) -> None:
    assert isinstance(await Desk(service).read.one(FindDeadLetter(letter_id=uuid4())), Rejected)
