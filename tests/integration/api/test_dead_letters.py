"""Operators list, explain, replay and discard dead letters; every change is in the log before it is asked for."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.refusals import Refusal, RefusedError
from api.repair.usecases.manage_letters import ReadDeadLetters
from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from contracts.dispatch_questions import MessagesCanceled
from contracts.facts import MessageAccepted
from contracts.questions import Question
from contracts.repair_questions import ListDeadLetters
from contracts.statement import Statement
from contracts.values import Category, Environment, MessageRef

from .repairing import KEYS, LANE, Repairing, repairing
from .running import OPERATOR_KEY, RunningApi, code_of


@pytest.fixture(scope="module")
async def reconciler(
    api_database: TestDatabase, vhost: VirtualHost, running_api: RunningApi
) -> AsyncIterator[Repairing]:
    async with repairing(api_database.url("reconciler"), vhost.url) as answering:
        yield answering


@pytest.fixture
async def letters(reconciler: Repairing) -> Repairing:
    await reconciler.forget()
    return reconciler


def owed(*, window: timedelta = timedelta(hours=1)) -> MessageAccepted:
    """A message that could be sent."""
    now = datetime.now(UTC)
    ref = MessageRef(
        message_id=uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="padaria",
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id="c",
    )
    return MessageAccepted(
        ref=ref,
        deliver_by=now - timedelta(hours=2),
        deliver_until=now + window,
        sealed=KEYS.seal(b"{}", aad=ref.message_id.bytes),
        recipient_hash="0" * 64,
        text_hash="1" * 64,
        accepted_at=now - timedelta(hours=2),
    )


async def ask(api: RunningApi, method: str, path: str, body: Any = None, **parameters: Any) -> httpx.Response:
    headers = {"x-operator-key": OPERATOR_KEY}
    url = f"/v1/admin/dead-letters{path}"
    return await api.client.request(method, url, json=body, params=parameters, headers=headers)


async def logged(api: RunningApi, answer: httpx.Response) -> list[Any]:
    query = "SELECT action, target_id::text, after FROM api.audit_entries WHERE request_id = $1"
    return [tuple(row) for row in await api.rows(query, answer.headers["x-request-id"])]


async def test_a_letter_is_listed_and_explained(api: RunningApi, letters: Repairing) -> None:
    fact = owed()
    letter_id = await letters.bury(fact)
    listed = (await ask(api, "GET", "", messageId=str(fact.ref.message_id))).json()
    assert listed["nextCursor"] is None
    [item] = listed["items"]
    assert (item["id"], item["queue"], item["reason"], item["state"]) == (letter_id, LANE, "rejected", "WAITING")
    explained = (await ask(api, "GET", f"/{letter_id}")).json()
    assert explained["replayable"]
    assert str(fact.ref.message_id) in explained["explanation"]["what"]
    assert "rejected" in explained["explanation"]["why"]
    assert LANE in explained["explanation"]["replay"]
    assert fact.sealed not in str(explained)


async def test_letters_are_found_by_each_of_their_marks_and_paged(api: RunningApi, letters: Repairing) -> None:
    ids = [await letters.bury(owed()) for _ in range(3)]
    odd = await letters.bury_raw(b"no", type_name="odd.v1", queue="api.messages")

    async def found(**wanted: Any) -> list[str]:
        answer = await ask(api, "GET", "", **wanted)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert await found() == [odd, *reversed(ids)]
    assert await found(queue="api.messages") == await found(type="odd.v1") == [odd]
    assert await found(reason="expired") == await found(state="DISCARDED") == []
    now = datetime.now(UTC)
    assert await found(**{"from": (now + timedelta(hours=1)).isoformat()}) == []
    assert len(await found(to=(now + timedelta(hours=1)).isoformat())) == 4
    first = (await ask(api, "GET", "", limit=3)).json()
    assert await found(cursor=first["nextCursor"]) == [ids[0]]


async def test_a_replay_is_logged_and_goes_to_its_queue(api: RunningApi, letters: Repairing) -> None:
    letter_id = await letters.bury(owed())
    answer = await ask(api, "POST", f"/{letter_id}/replay")
    assert (answer.status_code, answer.json()) == (202, {"id": letter_id, "state": "REPLAYED"})
    assert [row.routing_key for row in await letters.outgoing()] == [LANE]
    assert [(action, target) for action, target, _ in await logged(api, answer)] == [("dead_letter.replay", letter_id)]
    again = await ask(api, "POST", f"/{letter_id}/replay")
    assert code_of(again) == (409, "DEAD_LETTER_KEPT")
    assert again.json()["reason"] == "NOT_WAITING"


async def test_what_is_over_is_refused_with_the_reason(api: RunningApi, letters: Repairing) -> None:
    letter_id = await letters.bury(owed(window=timedelta(seconds=-1)))
    answer = await ask(api, "POST", f"/{letter_id}/replay")
    assert code_of(answer) == (409, "DEAD_LETTER_KEPT")
    assert answer.json()["reason"] == "WINDOW_OVER"
    assert "not sent late" in answer.json()["error"]
    assert await letters.outgoing() == []


async def test_many_are_replayed_with_counts(api: RunningApi, letters: Repairing) -> None:
    good = [await letters.bury(owed()) for _ in range(3)]
    bad = [await letters.bury_raw(b"no", type_name="message.accepted.v1") for _ in range(2)]
    these = (await ask(api, "POST", "/replay", {"ids": [good[0], bad[0]]})).json()
    assert (these["replayed"], these["kept"], these["ids"]) == (1, 1, [good[0]])
    assert [(kept["id"], kept["reason"]) for kept in these["keptLetters"]] == [(bad[0], "NOT_JSON")]
    some = (await ask(api, "POST", "/replay", {"queue": LANE, "limit": 1})).json()
    assert (some["replayed"], some["more"]) == (1, True)
    rest = await ask(api, "POST", "/replay", {"type": "message.accepted.v1"})
    assert (rest.json()["replayed"], rest.json()["kept"], rest.json()["more"]) == (1, 2, False)
    [(action, _, after)] = await logged(api, rest)
    assert action == "dead_letter.replay"
    assert "message.accepted.v1" in str(after)


async def test_a_discarded_letter_keeps_its_reason(api: RunningApi, letters: Repairing) -> None:
    one, two, three = [await letters.bury(owed()) for _ in range(3)]
    assert (await ask(api, "POST", f"/{one}/discard", {"reason": "A test."})).status_code == 200
    many = (await ask(api, "POST", "/discard", {"ids": [two, three, one], "reason": "Tests."})).json()
    assert (many["discarded"], many["kept"]) == (2, 1)
    shown = (await ask(api, "GET", f"/{two}")).json()
    assert (shown["state"], shown["note"], shown["replayable"]) == ("DISCARDED", "Tests.", False)
    assert (await ask(api, "POST", f"/{one}/discard", {"reason": "Again."})).json()["reason"] == "NOT_WAITING"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/{}", None), ("POST", "/{}/replay", None), ("POST", "/{}/discard", {"reason": "x"})],
)
async def test_an_unknown_letter_is_not_found(
    api: RunningApi, letters: Repairing, method: str, path: str, body: Any
) -> None:
    assert code_of(await ask(api, method, path.format(uuid4()), body)) == (404, "DEAD_LETTER_NOT_FOUND")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/replay", {}, ""),
        ("/replay", {"ids": [str(uuid4())], "queue": LANE}, ""),
        ("/replay", {"ids": []}, "ids"),
        ("/replay", {"queue": LANE, "limit": 1_001}, "limit"),
        ("/replay", {"queue": "a\x00b"}, "queue"),
        ("/discard", {"ids": [str(uuid4())]}, "reason"),
        ("/discard", {"ids": [str(uuid4())], "reason": "   "}, "reason"),
        ("/discard", {"ids": [str(uuid4())] * 101, "reason": "x"}, "ids"),
    ],
)
async def test_mistakes_are_named(api: RunningApi, letters: Repairing, path: str, body: Any, field: str) -> None:
    answer = await ask(api, "POST", path, body)
    assert answer.status_code == 400, answer.text
    assert any(field in detail["field"] for detail in answer.json()["details"])


class Odd:
    """Stands for a reconciler that answers another question."""

    async def ask(self, question: Question) -> Statement:
        return MessagesCanceled(canceled=(), kept=())


async def test_an_odd_answer_is_none() -> None:
    with pytest.raises(RefusedError) as refused:
        await ReadDeadLetters(questions=Odd()).page(ListDeadLetters())
    assert refused.value.refusal is Refusal.OWNER_UNAVAILABLE
