"""Each turn of a number's life is said once, in the commit of the change, with what is personal sealed."""

from collections.abc import Sequence
from itertools import count
from uuid import UUID

import pytest

from chassis.seal import KeyRing
from chassis.testing.waiting import eventually
from contracts.facts import NumberConfigured, NumberCreated, NumberRemoved, NumberRestored
from contracts.registry import decode
from contracts.values import NumberProfile

from .customers import Customer
from .running import OPERATOR_KEY, SEAL_KEYS, RunningApi, code_of

_phones = count(5511975000001)
RING = KeyRing.parse(SEAL_KEYS)

Fact = NumberConfigured | NumberCreated | NumberRemoved | NumberRestored


@pytest.fixture
def phone() -> str:
    return f"+{next(_phones)}"


async def said(api: RunningApi, number_id: str) -> Sequence[Fact]:
    """What waits to be published about a number, in order."""
    rows = await api.rows("SELECT type, body FROM api.outbox WHERE type LIKE 'number.%' ORDER BY id")
    facts = [decode(row["type"], row["body"]) for row in rows]
    return [fact for fact in facts if isinstance(fact, Fact) and str(fact.number_id) == number_id]


def told(facts: Sequence[Fact]) -> list[tuple[str, int]]:
    return [(fact.TYPE.removeprefix("number.").removesuffix(".v1"), fact.version) for fact in facts]


async def test_a_life_from_creation_to_purge(customer: Customer, phone: str) -> None:
    customer.api.broker_wire.cut()
    created = (await customer.create_number(phone))["instance"]
    number_id = created["id"]
    await customer.done("DELETE", f"numbers/{number_id}")
    await customer.done("POST", f"numbers/{number_id}/restore")
    await customer.done("DELETE", f"numbers/{number_id}")
    await customer.done("DELETE", f"numbers/{number_id}/purge")
    facts = await said(customer.api, number_id)
    assert told(facts) == [
        ("created", 1),
        ("configured", 1),
        ("removed", 2),
        ("restored", 3),
        ("configured", 3),
        ("removed", 4),
        ("removed", 5),
    ]
    assert [fact.purged for fact in facts if isinstance(fact, NumberRemoved)] == [False, False, True]
    assert {(fact.instance, str(fact.tenant_id)) for fact in facts} == {
        (created["instanceName"], customer.account.tenant_id)
    }
    for fact in facts[:-1]:
        assert fact.sealed_profile is not None
        profile = NumberProfile.model_validate_json(RING.open(fact.sealed_profile, aad=UUID(number_id).bytes))
        assert (profile.phone, profile.display_name) == (phone[1:], "Loja")
        assert phone[1:] not in fact.body().decode()
    assert facts[-1].sealed_profile is None, "of a purged number nothing personal goes out"


async def test_purging_at_once_is_a_removal_too(customer: Customer, phone: str) -> None:
    customer.api.broker_wire.cut()
    number_id = (await customer.create_number(phone))["instance"]["id"]
    await customer.done("DELETE", f"numbers/{number_id}/purge")
    facts = await said(customer.api, number_id)
    assert told(facts)[2:] == [("removed", 2), ("removed", 3)]
    assert [fact.purged for fact in facts if isinstance(fact, NumberRemoved)] == [False, True]


async def test_what_is_refused_says_nothing(customer: Customer, phone: str) -> None:
    customer.api.broker_wire.cut()
    customer.api.gateway_wire.cut()
    refused = await customer.call("POST", "numbers", body={"name": "Loja", "number": phone})
    assert refused.status_code == 503
    customer.api.gateway_wire.mend()
    number_id = (await customer.create_number(phone))["instance"]["id"]
    assert code_of(await customer.call("POST", "numbers", body={"name": "Loja", "number": phone}))[0] == 409
    assert code_of(await customer.call("POST", f"numbers/{number_id}/restore")) == (409, "NUMBER_ALREADY_ACTIVE")
    assert told(await said(customer.api, number_id)) == [("created", 1), ("configured", 1)]
    rows = await customer.api.rows("SELECT body FROM api.outbox WHERE type = 'number.created.v1'")
    mine = [row for row in rows if customer.account.tenant_id in row["body"].decode()]
    assert len(mine) == 1


async def test_a_registration_is_a_creation(api: RunningApi) -> None:
    api.broker_wire.cut()
    tenant = await api.operator("tenants", name="Padaria")
    number = await api.number(tenantId=tenant["id"], phone="+5511975999999", displayName="Matriz")
    facts = await said(api, number["id"])
    assert told(facts) == [("created", 1), ("configured", 1)]
    created = facts[0]
    assert isinstance(created, NumberCreated)
    assert str(created.tenant_id) == tenant["id"]
    assert created.sealed_profile is not None
    opened = RING.open(created.sealed_profile, aad=created.number_id.bytes)
    assert NumberProfile.model_validate_json(opened) == NumberProfile(phone="5511975999999", display_name="Matriz")


async def test_configuring_a_deleted_number_does_not_bring_it_back(customer: Customer, phone: str) -> None:
    customer.api.broker_wire.cut()
    number_id = (await customer.create_number(phone))["instance"]["id"]
    await customer.done("DELETE", f"numbers/{number_id}")
    paused = await customer.api.client.post(
        f"/v1/admin/numbers/{number_id}/pause", headers={"x-operator-key": OPERATOR_KEY}
    )
    assert paused.status_code == 200, paused.text
    assert told(await said(customer.api, number_id))[-1] == ("removed", 2)
    await customer.done("POST", f"numbers/{number_id}/restore")
    facts = await said(customer.api, number_id)
    assert told(facts)[-2:] == [("restored", 4), ("configured", 4)]
    assert isinstance(facts[-1], NumberConfigured)
    assert facts[-1].paused is True


async def test_everything_is_published_in_the_end(customer: Customer, phone: str) -> None:
    """No fact of a number is published into nothing: each has a queue that takes it."""
    number_id = (await customer.create_number(phone))["instance"]["id"]
    await customer.done("DELETE", f"numbers/{number_id}")
    await customer.done("POST", f"numbers/{number_id}/restore")

    async def is_published() -> bool:
        return await said(customer.api, number_id) == []

    await eventually(is_published, "every fact confirmed by the broker", timeout_seconds=30)
