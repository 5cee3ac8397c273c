"""What use cases refuse although the caller was let in: what they need is gone by the time they look."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import pytest

from api.access.domain import Caller
from api.access.usecases import Authenticate, ManageOwnKeys
from api.lanes.usecases import DescribeNumber
from api.messages.domain.history import PageRequest
from api.messages.domain.instants import Period
from api.messages.domain.scope import scope_of
from api.messages.usecases.read_history import ReadHistory
from api.refusals import Refusal, RefusedError
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database
from chassis.seal import KeyRing
from chassis.testing.template_database import TestDatabase
from chassis.ttl_cache import TtlCache
from contracts.dispatch_questions import MessagesCanceled
from contracts.questions import Question
from contracts.statement import Statement

from .running import SEAL_KEYS, RunningApi, code_of


class Odd:
    """Stands for a dispatcher that answers another question."""

    async def ask(self, question: Question) -> Statement:
        return MessagesCanceled(canceled=(), kept=())


@pytest.fixture
async def database(api_database: TestDatabase) -> AsyncIterator[Database]:
    opened = Database(api_database.url("api"), outbox=OUTBOX)
    yield opened
    await opened.stop()


@pytest.fixture
async def caller(api: RunningApi, database: Database) -> Caller:
    account = await api.account()
    return await Authenticate(database=database, callers=TtlCache(ttl_seconds=60)).caller(account.key)


async def test_a_key_that_was_just_replaced_neither_shows_nor_replaces_itself(
    database: Database, caller: Caller
) -> None:
    keys = ManageOwnKeys(database=database, callers=TtlCache(ttl_seconds=60), clock=utc_now)
    assert (await keys.own(caller)).key_id == caller.key_id
    await keys.regenerate(caller)
    for late in (keys.own, keys.regenerate):
        with pytest.raises(RefusedError) as refused:
            await late(caller)
        assert refused.value.refusal is Refusal.API_KEY_INVALID


async def test_without_a_number_there_is_no_history(database: Database, caller: Caller) -> None:
    history = ReadHistory(database=database, keys=KeyRing.parse(SEAL_KEYS), clock=utc_now)
    nobody = replace(caller, number=None)
    with pytest.raises(RefusedError) as refused:
        await history.page(scope_of(nobody), None, Period(), PageRequest(page=1, page_size=10))
    assert refused.value.refusal is Refusal.NUMBER_NOT_FOUND


async def test_a_lane_that_is_not_described_is_unavailable(database: Database, api: RunningApi) -> None:
    number = await api.number()
    with pytest.raises(RefusedError) as refused:
        await DescribeNumber(database=database, questions=Odd()).describe(UUID(number["id"]))
    assert refused.value.refusal is Refusal.OWNER_UNAVAILABLE


async def test_a_project_has_a_thousand_templates_at_most(api: RunningApi) -> None:
    account = await api.account()
    await api.rows(
        "INSERT INTO api.templates (id, project_id, name, category)"
        " SELECT gen_random_uuid(), $1, 't_' || n, 'UTILITY' FROM generate_series(1, 999) AS n",
        UUID(account.project_id),
    )
    body = {"name": "last", "category": "UTILITY", "body": "Olá!"}
    headers = {"x-api-key": account.key}
    assert (await api.client.post("/v1/templates", json=body, headers=headers)).status_code == 201
    refused = await api.client.post("/v1/templates", json=body | {"name": "more"}, headers=headers)
    assert code_of(refused) == (409, "TEMPLATE_LIMIT_EXCEEDED")
