"""The api's book beside the ledger's: what does not balance is named, message by message."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from contracts.facts import MessageAccepted, MessageStatusChanged
from contracts.status import Status

from .repairing import Repairing, repairing
from .running import OPERATOR_KEY, Account, RunningApi, code_of
from .test_dead_letters import owed

AGED = "UPDATE api.messages SET accepted_at = accepted_at - interval '10 minutes' WHERE id = $1"


@pytest.fixture(scope="module")
async def reconciler(
    api_database: TestDatabase, vhost: VirtualHost, running_api: RunningApi
) -> AsyncIterator[Repairing]:
    async with repairing(api_database.url("reconciler"), vhost.url) as answering:
        yield answering


@pytest.fixture
async def account(api: RunningApi, reconciler: Repairing) -> Account:
    await reconciler.forget()
    return await api.account()


async def sent(api: RunningApi, account: Account) -> UUID:
    """Accepted so long ago that both books should know."""
    answer = await api.send(account.key)
    assert answer.status_code == 202, answer.text
    message_id = UUID(answer.json()["id"])
    await api.rows(AGED, message_id)
    return message_id


def told(message_id: UUID, account: Account) -> MessageAccepted:
    fact = owed()
    ref = fact.ref.model_copy(update={"message_id": message_id, "tenant_id": UUID(account.tenant_id)})
    return fact.model_copy(update={"ref": ref})


def ended(accepted: MessageAccepted) -> MessageStatusChanged:
    now = datetime.now(UTC)
    return MessageStatusChanged(
        ref=accepted.ref, previous=Status.QUEUED, status=Status.READ, changed_at=now, version=2, accepted_at=now
    )


async def report(api: RunningApi, **period: str) -> Any:
    answer = await api.client.get("/v1/admin/reconciliation", params=period, headers={"x-operator-key": OPERATOR_KEY})
    assert answer.status_code == 200, answer.text
    return answer.json()


def of(account: Account, books: Any) -> Any:
    [found] = [one for one in books["accounts"] if one["tenantId"] == account.tenant_id]
    return found


async def test_books_that_agree_balance(api: RunningApi, reconciler: Repairing, account: Account) -> None:
    await reconciler.hear(told(await sent(api, account), account), told(await sent(api, account), account))
    found = of(account, await report(api, tenantId=account.tenant_id))
    assert found["balanced"]
    assert found["api"] == found["ledger"] == {"accepted": 2, "final": 0, "open": 2}


async def test_each_disagreement_names_its_message(api: RunningApi, reconciler: Repairing, account: Account) -> None:
    lost, open_in_api, open_in_ledger, fine = [await sent(api, account) for _ in range(4)]
    stranger = UUID(int=(lost.int >> 80) - 300_000 << 80 | 5)
    facts = [told(one, account) for one in (open_in_api, open_in_ledger, fine)]
    await reconciler.hear(*facts, ended(facts[0]))
    await api.rows("UPDATE api.messages SET status = 'FAILED' WHERE id = $1", open_in_ledger)
    known_only_there = told(stranger, account)
    await reconciler.hear(known_only_there)
    books = await report(api, tenantId=account.tenant_id)
    wrong = {one["messageId"]: one["reason"] for balance in books["accounts"] for one in balance["wrong"]}
    assert wrong == {
        str(lost): "UNKNOWN_TO_LEDGER",
        str(open_in_api): "OPEN_IN_API",
        str(open_in_ledger): "OPEN_IN_LEDGER",
        str(stranger): "UNKNOWN_TO_API",
    }
    assert books["balanced"] is False
    assert books["watched"]["openByEvidence"] == {"NONE": 3}


async def test_what_only_just_changed_may_still_be_on_its_way(api: RunningApi, account: Account) -> None:
    answer = await api.send(account.key)
    assert answer.status_code == 202
    found = of(account, await report(api, tenantId=account.tenant_id))
    assert (found["wrong"], found["api"]["accepted"], found["ledger"]["accepted"]) == ([], 1, 0)


@pytest.mark.parametrize(
    ("since", "until"), [(timedelta(hours=1), timedelta(hours=2)), (timedelta(days=30), timedelta(0))]
)
async def test_an_odd_period_is_refused(
    api: RunningApi, reconciler: Repairing, since: timedelta, until: timedelta
) -> None:
    now = datetime.now(UTC)
    answer = await api.client.get(
        "/v1/admin/reconciliation",
        params={"since": (now - since).isoformat(), "until": (now - until).isoformat()},
        headers={"x-operator-key": OPERATOR_KEY},
    )
    assert code_of(answer) == (400, "INVALID_DATE_RANGE")
