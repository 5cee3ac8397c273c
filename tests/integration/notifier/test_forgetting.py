"""What a message said is kept no longer: webhooks stay, told and to be told, as if it had never been kept."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chassis.database import UnavailableError
from contracts.facts import ContentForgotten, MessageStatusChanged
from contracts.status import Status
from contracts.values import MessageContent
from notifier.domain.payload import body_of
from notifier.domain.redaction import redacted
from notifier.usecases import forget_contents
from notifier.usecases.forget_contents import ForgetContents

from .rig import RING, Rig, Schema

TEXT, PHONE = "segredo-do-recado", "5511912345678"


def forgotten(*facts: MessageStatusChanged) -> ContentForgotten:
    return ContentForgotten(
        number_id=facts[0].ref.number_id,
        message_ids=tuple(fact.ref.message_id for fact in facts),
        forgotten_at=datetime.now(UTC),
    )


async def bodies(rig: Rig) -> dict[UUID, str]:
    rows = await rig.rows("SELECT message_id, delivery_id, sealed_body FROM notifier.deliveries")
    return {row.message_id: RING.open(row.sealed_body, aad=row.delivery_id.bytes).decode() for row in rows}


async def test_bodies_and_kept_answers_lose_the_content_and_the_rest_goes_on(build: Any, customer: Any) -> None:
    rig = await build(pauses=(0.01, 0.01, 0.01))
    await rig.endpoint(customer.url())
    told, other = rig.fact(text=TEXT), rig.fact(text="fica")
    await rig.hear(told, other)
    rows = await rig.rows("SELECT delivery_id, endpoint_id FROM notifier.deliveries")
    for row in rows:
        await rig.rows(
            "INSERT INTO notifier.delivery_attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms,"
            " status, sealed_response) VALUES (:d, 1, :e, now(), 1, 500, :s) RETURNING 1",
            d=row.delivery_id,
            e=row.endpoint_id,
            s=RING.seal(f"cannot reach +{PHONE}".encode(), aad=row.delivery_id.bytes),
        )
    forget = ForgetContents(database=rig.database, ring=RING, bite=1)
    for _ in range(2):
        await forget(forgotten(told))
    kept = await bodies(rig)
    assert TEXT not in kept[told.ref.message_id]
    assert PHONE not in kept[told.ref.message_id]
    assert "fica" in kept[other.ref.message_id]
    assert json.loads(kept[told.ref.message_id])["data"]["id"] == str(told.ref.message_id)
    answers = await rig.rows("SELECT sealed_response FROM notifier.delivery_attempts")
    assert sorted(row.sealed_response is None for row in answers) == [False, True]
    await rig.work_off()
    assert sorted(await rig.states()) == ["DELIVERED", "DELIVERED"], "what is owed is still told"
    assert TEXT not in repr(list(customer.received))


@pytest.mark.parametrize("status", [Status.SENT, Status.FAILED])
async def test_a_redacted_body_is_the_one_made_without_content(build: Any, status: Status) -> None:
    rig = await build()
    fact = rig.fact(status)
    content = MessageContent(to=PHONE, text=TEXT, sender="+5511900000000")
    event = f"message.{status.value.lower()}"
    assert redacted(body_of(fact, event, content)) == body_of(fact, event, None)
    assert redacted(b"not json") == b"not json"
    assert (
        redacted(b'{"event":"number.created","data":{"phone":"1"}}')
        == b'{"event":"number.created","data":{"phone":"1"}}'
    )


async def test_a_row_that_somebody_holds_is_tried_again_and_never_passed_over(
    build: Any, schema: Schema, customer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forget_contents, "PAUSE_SECONDS", 0.01)
    rig = await build()
    await rig.endpoint(customer.url())
    fact = rig.fact(text=TEXT)
    await rig.hear(fact)
    forget = ForgetContents(database=rig.database, ring=RING)
    holder = await asyncpg.connect(schema.admin_url)
    try:
        held = holder.transaction()
        await held.start()
        await holder.fetch("SELECT 1 FROM notifier.deliveries FOR UPDATE")
        with pytest.raises(UnavailableError):
            await forget(forgotten(fact))
        await held.rollback()
    finally:
        await holder.close()
    await forget(forgotten(fact))
    assert TEXT not in (await bodies(rig))[fact.ref.message_id]
