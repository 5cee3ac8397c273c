"""What becomes of a deleted number: restored, purged, expired; and who is told."""

import json
from collections.abc import AsyncIterator
from itertools import count
from uuid import UUID

import pytest
from pilot_status import types as sdk
from tests.sdk_shapes import fits

from api.messages.usecases.forget_content import ForgetContent
from api.own_numbers.adapters import EvolutionNumbers
from api.own_numbers.usecases.remove_number import RemoveNumber
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database
from chassis.seal import KeyRing
from chassis.testing.template_database import TestDatabase
from gateways.evolution.instances import EvolutionInstances

from .customers import Customer, instances, set_state
from .running import SEAL_KEYS, code_of, soon

_phones = count(5511973000001)


@pytest.fixture
def phone() -> str:
    return f"+{next(_phones)}"


async def test_deleted_restored_purged_and_created_again(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    number_id, instance = created["instance"]["id"], created["instance"]["instanceName"]
    await set_state(customer.api, instance, "open")
    key = await customer.number_key(number_id)
    deleted = await customer.done("DELETE", f"numbers/{number_id}")
    fits(sdk.DeleteNumberResult, deleted)
    assert (await instances(customer.api))[instance] == "close"
    assert await customer.done("GET", "numbers") == []
    assert code_of(await customer.call("DELETE", f"numbers/{number_id}")) == (404, "NUMBER_NOT_FOUND")
    again = await customer.call("POST", "numbers", body={"name": "Loja", "number": phone})
    assert code_of(again) == (409, "NUMBER_SOFT_DELETED")

    async def key_is_dead() -> bool:
        return (await customer.call("GET", "numbers", key=key)).status_code == 401

    await soon(key_is_dead, "the key of a deleted number refused")
    restored = await customer.done("POST", f"numbers/{number_id}/restore")
    fits(sdk.NumberRestoreResult, restored)
    assert restored == {"ok": True, "requiresReconnect": True}
    assert code_of(await customer.call("POST", f"numbers/{number_id}/restore")) == (409, "NUMBER_ALREADY_ACTIVE")
    assert [row["id"] for row in await customer.done("GET", "numbers", key=key)] == [number_id]
    await customer.done("DELETE", f"numbers/{number_id}")
    assert await customer.done("DELETE", f"numbers/{number_id}/purge") == {"ok": True}
    assert instance not in await instances(customer.api)
    assert code_of(await customer.call("POST", f"numbers/{number_id}/restore")) == (404, "NUMBER_NOT_FOUND")
    assert await customer.api.rows("SELECT 1 FROM api.api_keys WHERE number_id = $1", UUID(number_id)) == []
    assert (await customer.create_number(phone))["instance"]["id"] != number_id


async def test_the_dispatcher_is_told_to_stop_and_to_go_on(customer: Customer, phone: str) -> None:
    number_id = (await customer.create_number(phone))["instance"]["id"]

    async def is_published() -> bool:
        return not await customer.api.rows("SELECT 1 FROM api.outbox")

    await soon(is_published, "the creation told")
    customer.api.broker_wire.cut()
    await customer.done("DELETE", f"numbers/{number_id}")
    await customer.done("POST", f"numbers/{number_id}/restore")
    told = await customer.api.rows(
        "SELECT type, convert_from(body, 'UTF8') AS fact FROM api.outbox WHERE type LIKE 'number.%' ORDER BY id"
    )
    facts = [(row["type"], json.loads(row["fact"])) for row in told]
    mine = [(kind, fact["version"]) for kind, fact in facts if fact["number_id"] == number_id]
    assert mine == [("number.removed.v1", 2), ("number.restored.v1", 3), ("number.configured.v1", 3)]


async def test_thirty_days_later_nobody_restores_it(customer: Customer, phone: str) -> None:
    number_id = (await customer.create_number(phone))["instance"]["id"]
    await customer.done("DELETE", f"numbers/{number_id}")
    await customer.api.looker.execute(
        "UPDATE api.numbers SET deleted_at = now() - interval '30 days 1 second' WHERE id = $1", UUID(number_id)
    )
    assert code_of(await customer.call("POST", f"numbers/{number_id}/restore")) == (404, "NUMBER_NOT_FOUND")


async def test_purging_takes_the_content_of_messages(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    number_id = created["instance"]["id"]
    await set_state(customer.api, created["instance"]["instanceName"], "open")
    await customer.done("GET", f"numbers/{number_id}/status")
    key = await customer.number_key(number_id)
    sent = await customer.api.send(key, text="segredo")
    assert sent.status_code == 202, sent.text
    await customer.done("DELETE", f"numbers/{number_id}/purge")
    rows = await customer.api.rows("SELECT sealed FROM api.messages WHERE id = $1", UUID(sent.json()["id"]))
    assert [row["sealed"] for row in rows] == [None]


@pytest.fixture
async def database(api_database: TestDatabase) -> AsyncIterator[Database]:
    """The tables of the running api, reached as the api does."""
    opened = Database(api_database.url("api"), outbox=OUTBOX)
    yield opened
    await opened.stop()


async def sent_from(customer: Customer, phone: str) -> tuple[str, UUID]:
    """A connected number and a message that left from it two days ago, as far as the tables know."""
    created = await customer.create_number(phone)
    number_id = str(created["instance"]["id"])
    await set_state(customer.api, created["instance"]["instanceName"], "open")
    await customer.done("GET", f"numbers/{number_id}/status")
    sent = await customer.api.send(await customer.number_key(number_id), text="segredo")
    assert sent.status_code == 202, sent.text
    message_id = UUID(sent.json()["id"])
    await customer.api.looker.execute(
        "UPDATE api.messages SET dispatched_at = now() - interval '2 days' WHERE id = $1", message_id
    )
    return number_id, message_id


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"piiMode": "STORE_INDEFINITE"}, True),
        ({"piiMode": "STORE_X_DAYS", "piiRetentionDays": 3}, True),
        ({"piiMode": "STORE_X_DAYS", "piiRetentionDays": 1}, False),
        ({"piiMode": "RELAY_ONLY"}, False),
    ],
)
async def test_content_is_kept_as_long_as_the_number_says(
    customer: Customer, phone: str, database: Database, change: dict[str, object], kept: bool
) -> None:
    number_id, message_id = await sent_from(customer, phone)
    await customer.done("PATCH", f"numbers/{number_id}", body=change)
    assert await ForgetContent(database=database, clock=utc_now).expired() is False
    [row] = await customer.api.rows("SELECT sealed FROM api.messages WHERE id = $1", message_id)
    assert (row["sealed"] is not None) is kept


async def test_what_never_left_is_forgotten_once_that_is_certain(
    customer: Customer, phone: str, database: Database
) -> None:
    number_id, message_id = await sent_from(customer, phone)
    await customer.done("PATCH", f"numbers/{number_id}", body={"piiMode": "RELAY_ONLY"})
    await customer.api.looker.execute(
        "UPDATE api.messages SET dispatched_at = NULL, accepted_at = now() - interval '2 days' WHERE id = $1",
        message_id,
    )

    async def is_kept() -> bool:
        [row] = await customer.api.rows("SELECT sealed FROM api.messages WHERE id = $1", message_id)
        return row["sealed"] is not None

    await ForgetContent(database=database, clock=utc_now).expired()
    assert await is_kept()
    await customer.api.looker.execute("UPDATE api.messages SET failed_at = now() WHERE id = $1", message_id)
    await ForgetContent(database=database, clock=utc_now).expired()
    assert not await is_kept()


async def test_what_nobody_restored_is_purged(customer: Customer, phone: str, database: Database) -> None:
    number_id, message_id = await sent_from(customer, phone)
    fresh = await customer.create_number(f"+{next(_phones)}")
    for deleted in (number_id, fresh["instance"]["id"]):
        await customer.done("DELETE", f"numbers/{deleted}")
    await customer.api.looker.execute(
        "UPDATE api.numbers SET deleted_at = now() - interval '31 days' WHERE id = $1", UUID(number_id)
    )
    gateway = EvolutionInstances()
    remove = RemoveNumber(
        database=database,
        keys=KeyRing.parse(SEAL_KEYS),
        gateway=EvolutionNumbers(quick=gateway, patient=gateway, home=None, ingest_url=None),
        forget_history=ForgetContent(database=database, clock=utc_now).of_number,
        clock=utc_now,
    )
    while await remove.purge_expired():
        pass
    await gateway.aclose()
    left = await customer.api.rows("SELECT id FROM api.numbers WHERE tenant_id = $1", UUID(customer.account.tenant_id))
    assert [str(row["id"]) for row in left] == [fresh["instance"]["id"]]
    [row] = await customer.api.rows("SELECT sealed FROM api.messages WHERE id = $1", message_id)
    assert row["sealed"] is None
