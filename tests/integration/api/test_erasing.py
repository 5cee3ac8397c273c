"""POST /v1/admin/recipients/erase: a person is forgotten here, every owner is told, and no consent is left."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api.erasures import domain
from api.erasures.usecases import CarryOutErasures
from api.messages.domain.cancellation import CancelOutcome
from api.messages.domain.scope import Scope
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database
from chassis.seal import KeyRing, Pepper
from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from chassis.testing.waiting import eventually
from contracts.facts import ContentForgotten, RecipientErased
from contracts.matching import RECIPIENT_PURPOSE
from contracts.registry import decode
from contracts.statement import Statement
from contracts.topology import FACTS
from gateways.recipients import recipient_key

from .answering import Dispatching, answering
from .running import DESTINATION, OPERATOR_KEY, SEAL_KEYS, SEAL_PEPPER, Account, RunningApi
from .stored import store
from .test_privacy import everything

LONG, SHORT = "5547981230001", "554781230001"
TEXT = "Segredo-a-esquecer"
LABEL = "etiqueta-da-pessoa"
WAIT_SECONDS = 60
"""The dispatcher is asked again only after a pause, and others use the machine too."""


@pytest.fixture
async def dispatching(api: RunningApi, api_database: TestDatabase, vhost: VirtualHost) -> AsyncIterator[Dispatching]:
    async with answering(api_database.url("dispatcher"), vhost.url) as dispatcher:
        yield dispatcher


@pytest.fixture
async def told(api: RunningApi) -> AsyncIterator[list[Statement]]:
    """What the owners of copies hear."""
    queue = await api.channel.declare_queue(exclusive=True)
    heard: list[Statement] = []
    for kind in (ContentForgotten, RecipientErased):
        await queue.bind(FACTS, routing_key=kind.TYPE.rsplit(".v", 1)[0])

    async def hear(message: Any) -> None:
        heard.append(decode(message.type, message.body))

    tag = await queue.consume(hear, no_ack=True)
    yield heard
    await queue.cancel(tag)
    await queue.delete()


@pytest.fixture
async def database(api_database: TestDatabase) -> AsyncIterator[Database]:
    opened = Database(api_database.url("api"), outbox=OUTBOX, pool_size=2)
    yield opened
    await opened.stop()


def hash_of(phone: str) -> str:
    return Pepper.parse(SEAL_PEPPER).hash(recipient_key(phone), purpose=RECIPIENT_PURPOSE)


async def erase(api: RunningApi, phone: str, **body: Any) -> httpx.Response:
    headers = {"x-operator-key": OPERATOR_KEY}
    return await api.client.post("/v1/admin/recipients/erase", json={"phone": phone, **body}, headers=headers)


async def erasure(api: RunningApi, erasure_id: str) -> dict[str, Any]:
    headers = {"x-operator-key": OPERATOR_KEY}
    answer = await api.client.get(f"/v1/admin/recipients/erasures/{erasure_id}", headers=headers)
    found: dict[str, Any] = answer.json()
    return found


async def walked(api: RunningApi, erasure_id: str) -> None:
    """The first walk through the messages ended."""

    async def is_over() -> bool:
        rows = await api.rows("SELECT walk FROM api.erasures WHERE id = $1", UUID(erasure_id))
        return bool(rows[0]["walk"] == domain.LAST_WALK)

    await eventually(is_over, "everything gone through once", timeout_seconds=WAIT_SECONDS)


async def hasten(api: RunningApi, erasure_id: str) -> None:
    """As if everything on its way had arrived; the dispatcher may be slow to answer, and is asked again."""

    async def is_done() -> bool:
        await api.rows("UPDATE api.erasures SET look_at = now() WHERE id = $1 RETURNING 1", UUID(erasure_id))
        return bool((await erasure(api, erasure_id))["status"] == "COMPLETED")

    await eventually(is_done, "the erasure completed", timeout_seconds=WAIT_SECONDS)


async def known_person(api: RunningApi) -> Account:
    """A tenant that knows the person by profile and consent."""
    account = await api.account()
    await api.profile(account.tenant_id, f"+{LONG}")
    await api.opt_in(account.key, f"+{LONG}")
    return account


async def test_number_and_content_are_gone_and_waiting_messages_are_canceled(
    api: RunningApi, dispatching: Dispatching, told: list[Statement]
) -> None:
    account = await known_person(api)
    hour = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    sent = [
        (await api.send(account.key, destinationNumber=f"+{phone}", text=TEXT, labels=[LABEL], deliverAt=hour)).json()
        for phone in (LONG, SHORT)
    ]
    other = (await api.send(account.key, text=TEXT, deliverAt=hour)).json()
    answer = await erase(api, f"+{SHORT}", tenantId=account.tenant_id)
    assert answer.status_code == 202
    begun = answer.json()
    assert (begun["status"], begun["profilesDeleted"], begun["optInsRevoked"]) == ("RUNNING", 1, 1)
    await walked(api, begun["id"])
    await hasten(api, begun["id"])
    done = await erasure(api, begun["id"])
    assert (done["messagesForgotten"], done["messagesCanceled"], done["messagesWaiting"]) == (2, 2, 0)
    for message in sent:
        details = (await api.get(account.key, f"messages/{message['id']}")).json()
        assert details["status"] == "CANCELED"
        assert not details["destinationNumber"]
        assert TEXT not in json.dumps(details)
        assert LABEL not in json.dumps(details)
    kept = (await api.get(account.key, f"messages/{other['id']}")).json()
    assert (kept["status"], kept["destinationNumber"]) == ("QUEUED", DESTINATION)
    tables = await everything(api)
    for planted in (LONG, SHORT, LONG[4:], TEXT, LABEL):
        assert [name for name, content in tables.items() if planted in content] == []
        assert planted not in api.log()
    rows = await api.rows("SELECT sealed_recipient FROM api.erasures WHERE id = $1", UUID(begun["id"]))
    assert rows[0]["sealed_recipient"] is None

    async def all_told() -> bool:
        return len([fact for fact in told if isinstance(fact, RecipientErased)]) == 2

    await eventually(all_told, "told at the beginning and at the end", timeout_seconds=WAIT_SECONDS)
    ids = {one for fact in told if isinstance(fact, ContentForgotten) for one in fact.message_ids}
    assert ids == {UUID(message["id"]) for message in sent}
    for fact in (fact for fact in told if isinstance(fact, RecipientErased)):
        assert fact.recipient_hash == hash_of(LONG) == hash_of(SHORT)
        assert (fact.tenant_id, fact.instances is not None) == (UUID(account.tenant_id), True)
        digits = KeyRing.parse(SEAL_KEYS).open(fact.sealed_recipient, aad=fact.erasure_id.bytes)
        assert digits.decode() == SHORT


async def test_who_was_erased_stays_opted_out_until_they_agree_again(api: RunningApi) -> None:
    account = await known_person(api)
    await erase(api, f"+{LONG}", tenantId=account.tenant_id)
    query = f"messages/opt-in?destinationNumber=%2B{SHORT}"
    rows = await api.rows(
        "SELECT id, recipient_hash, sealed_phone, revoked_at FROM api.opt_ins WHERE project_id = $1",
        UUID(account.project_id),
    )
    [row] = rows
    assert (row["recipient_hash"], row["sealed_phone"]) == (hash_of(LONG), None)
    assert row["revoked_at"] is not None
    headers = {"x-operator-key": OPERATOR_KEY}
    shown = await api.client.get(f"/v1/admin/opt-ins/{row['id']}", headers=headers)
    assert shown.json()["phone"] is None
    again = await erase(api, f"+{LONG}", tenantId=account.tenant_id)
    assert again.json()["profilesDeleted"] == 0
    await api.opt_in(account.key, f"+{SHORT}")
    assert (await api.get(account.key, query)).status_code == 200
    [listed] = (await api.client.get(f"/v1/admin/opt-ins?projectId={account.project_id}", headers=headers)).json()[
        "items"
    ]
    assert (listed["phone"], listed["revokedAt"]) == (f"+{SHORT}", None)


async def test_another_tenant_keeps_what_it_knows_unless_all_are_meant(api: RunningApi) -> None:
    phone = f"+55479{81240000 + uuid4().int % 9_999}"
    first, second = await api.account(), await api.account()
    for account in (first, second):
        await api.profile(account.tenant_id, phone)
    one = await erase(api, phone, tenantId=first.tenant_id)
    assert one.json()["profilesDeleted"] == 1
    everybody = await erase(api, phone)
    assert (everybody.json()["tenantId"], everybody.json()["profilesDeleted"]) == (None, 1)


@pytest.mark.parametrize("phone", ["", "nobody", "+55", 5, None])
async def test_what_is_no_phone_is_refused_by_name(api: RunningApi, phone: Any) -> None:
    answer = await erase(api, phone)
    assert answer.status_code == 400
    assert [issue["field"] for issue in answer.json()["details"]] == ["phone"]


async def test_the_log_of_changes_holds_no_number(api: RunningApi) -> None:
    account = await known_person(api)
    begun = (await erase(api, f"+{LONG}", tenantId=account.tenant_id)).json()
    [row] = await api.rows(
        "SELECT action, before, after FROM api.audit_entries WHERE target_id = $1", UUID(begun["id"])
    )
    assert row["action"] == "recipient.erase"
    shown = json.dumps([row["before"], row["after"]])
    assert account.tenant_id in shown
    for planted in (LONG, SHORT, hash_of(LONG), "sealed"):
        assert planted not in shown


class SilentDispatcher:
    """Cancels nothing, as a message on its way to the gateway cannot be."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def cancel(self, references: Sequence[str], scope: Scope) -> CancelOutcome:
        self.asked += references
        return CancelOutcome(canceled=(), failed=())


async def test_it_goes_on_in_bites_and_waits_for_what_may_still_be_sent(api: RunningApi, database: Database) -> None:
    account, recipient = await api.account(), hash_of(str(uuid4().int))
    number_id = uuid4()
    await store(api, account, 5, recipient_hash=recipient, number_id=number_id, labels=[LABEL])
    [waiting] = await store(api, account, status="QUEUED", recipient_hash=recipient, number_id=number_id)
    erasure_id = uuid4()
    clock = [utc_now() + timedelta(days=2_000)]
    await api.rows(
        "INSERT INTO api.erasures (id, tenant_id, recipient_hash, sealed_recipient, look_at)"
        " VALUES ($1, $2, $3, 'sealed', $4)",
        erasure_id,
        UUID(account.tenant_id),
        recipient,
        clock[0],
    )
    silent = SilentDispatcher()
    carry_out = CarryOutErasures(database=database, cancels=silent, clock=lambda: clock[0], bite=2)

    async def state() -> tuple[int, int, bool]:
        [row] = await api.rows(
            "SELECT walk, messages_forgotten, completed_at IS NOT NULL AS done FROM api.erasures WHERE id = $1",
            erasure_id,
        )
        return row["walk"], row["messages_forgotten"], row["done"]

    forgotten = []
    while (await state())[0] == 1:
        await asyncio.gather(carry_out.step(), carry_out.step())
        forgotten.append((await state())[1])
    assert forgotten[0] < 5, "in bites, whoever comes by"
    assert forgotten[-1] == 5
    clock[0] += domain.SETTLING
    while await carry_out.step():
        pass
    assert await state() == (2, 5, False), "a message may still be sent"
    assert set(silent.asked) == {waiting}
    await api.rows("UPDATE api.messages SET status = 'FAILED' WHERE id = $1 RETURNING 1", UUID(waiting))
    clock[0] += domain.AGAIN_AFTER
    while await carry_out.step():
        pass
    assert await state() == (2, 5, True)
