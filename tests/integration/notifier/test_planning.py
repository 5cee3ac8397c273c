"""Which facts owe which deliveries."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from chassis.seal import KeyRing, SealError
from contracts.ids import uuid7
from contracts.status import Status

OTHER_RING = KeyRing.parse("k9:" + "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=")


@pytest.fixture
async def rig(build: Any) -> Any:
    return await build()


async def events(rig: Any) -> list[str]:
    return [row.event for row in await rig.rows("SELECT event FROM notifier.deliveries ORDER BY event")]


async def test_a_repeated_fact_owes_one_delivery(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    fact = rig.fact()
    await rig.hear(*[fact] * 20)
    await rig.hear(fact)
    assert await rig.work_off() == 1
    await rig.hear(fact)
    assert await rig.work_off() == 0
    assert len(customer.received) == 1


async def test_a_repeat_at_another_replica_owes_nothing_new(build: Any, customer: Any) -> None:
    one, two = await build(), await build()
    await one.endpoint(customer.url())
    facts = [one.fact() for _ in range(50)]
    await asyncio.gather(one.hear(*facts), two.hear(*reversed(facts)))
    assert len(await one.states()) == 50


async def test_every_transition_and_every_round_is_its_own_delivery(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    message_id = uuid7()
    await rig.hear(
        rig.fact(Status.SENT, message_id=message_id, version=3),
        rig.fact(Status.DELIVERED, message_id=message_id, version=4),
        rig.fact(Status.READ, message_id=message_id, version=5),
        rig.fact(Status.SENT, message_id=message_id, version=3, round=2),
    )
    assert await events(rig) == ["message.delivered", "message.read", "message.sent", "message.sent"]


async def test_only_what_was_selected(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url("/read"), "message.read")
    await rig.endpoint(customer.url("/failed"), "message.failed", "message.sent")
    await rig.hear(rig.fact(Status.READ), rig.fact(Status.FAILED), rig.fact(Status.DELIVERED))
    await rig.work_off()
    assert sorted(request.path for request in customer.received) == ["/failed", "/read"]


async def test_no_selection_hears_nothing(rig: Any, customer: Any) -> None:
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.rows("UPDATE notifier.endpoints SET events = '{}' WHERE endpoint_id = :id RETURNING 1", id=endpoint_id)
    await rig.hear(rig.fact())
    assert await rig.states() == []


async def test_other_tenants_and_other_numbers_hear_nothing(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url("/tenant"), tenant_id=uuid4())
    await rig.endpoint(customer.url("/number"), number_id=uuid4())
    await rig.hear(rig.fact())
    assert await rig.states() == []


async def test_what_happens_while_an_endpoint_is_off_waits_for_it(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    await rig.rows("UPDATE notifier.endpoints SET active = false RETURNING 1")
    await rig.hear(rig.fact())
    assert await rig.states() == ["PENDING"]
    assert await rig.work_off() == 0
    await rig.rows("UPDATE notifier.endpoints SET deleted_at = now() RETURNING 1")
    await rig.hear(rig.fact())
    assert await rig.states() == ["PENDING"], "nothing is owed to one that is deleted"


async def test_a_snapshot_that_cannot_be_opened_fails_alone(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    message_id = uuid7()
    foreign = rig.fact(message_id=message_id, sealed=OTHER_RING.seal(b"{}", aad=message_id.bytes))
    good = [rig.fact() for _ in range(5)]
    results = await asyncio.gather(
        *(rig.plans.submit(fact) for fact in [*good, foreign, rig.fact()]), return_exceptions=True
    )
    assert [isinstance(result, SealError) for result in results] == [False] * 5 + [True, False]
    assert len(await rig.states()) == 6


async def test_without_a_snapshot_the_recipient_is_empty(rig: Any, customer: Any) -> None:
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact(sealed=None))
    await rig.work_off()
    assert b'"to":""' in customer.received[0].body
    assert b"content" not in customer.received[0].body


async def test_nothing_rests_in_clear(rig: Any, customer: Any) -> None:
    customer.replies["/hook"] = [customer.reply(status=500, body=b"5511912345678 Segredo")]
    _, secret = await rig.endpoint(customer.url())
    await rig.hear(rig.fact(text="Segredo"))
    await rig.work_off()
    tables = ("endpoints", "deliveries", "delivery_attempts", "outbox")
    found = [str(row) for table in tables for row in await rig.rows(f"SELECT t::text AS t FROM notifier.{table} AS t")]
    assert len(found) == 3
    for planted in ("5511912345678", "Segredo", secret, secret.removeprefix("whsec_")):
        assert planted not in "".join(found)
    facts = [repr(fact) for fact in await rig.said()]
    assert "5511912345678" not in "".join(facts)
