"""Every shape of body is kept first and understood later, or quarantined; none blocks another or leaves a trace."""

import json

import asyncpg
import pytest

from chassis.seal import KeyRing
from contracts.facts import EchoObserved, ReceiptRecorded
from contracts.status import Status
from status_ingest import store
from status_ingest.domain.findings import Findings
from status_ingest.usecases import interpret_events

from .conftest import KEY_RING, TOKEN, Schema, Service, dispatched, reference, update

PATH = f"/webhooks/evolution/{TOKEN}"
PHONE, TEXT = "5547988776655", "canary text seven"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "not_json"),
        (b"a=1&b=2", "not_json"),
        (b"\xff\xfe\x00", "not_json"),
        (b"[" * 200_000, "not_json"),
        (b'{"event":' + b"9" * 5_000 + b"}", "not_json"),
    ],
)
async def test_case_3_what_is_no_json_is_quarantined_and_answered_200(
    service: Service, body: bytes, reason: str
) -> None:
    assert (await service.post(body)).status_code == 200
    (row,) = await service.rows("SELECT id, reason, size_bytes, sealed FROM status_ingest.quarantine")
    assert (row.reason, row.size_bytes) == (reason, len(body))
    assert KEY_RING.open(row.sealed, aad=row.id.bytes) == (body if reason == "not_json" else b"")


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"event": "messages.update", "instance": "loja", "data": None}, "data_not_an_object"),
        ({"event": "messages.update", "instance": "loja", "data": "x"}, "data_not_an_object"),
        ({"instance": "loja", "data": {}}, "event_missing"),
        (
            {"event": "messages.update", "instance": "loja", "data": {"messageId": "c1", "status": "READ"}},
            "key_missing",
        ),
        ({"event": "connection.update", "data": {"state": "open"}}, "instance_missing"),
        ({"event": "send.message", "data": {"key": {"id": "K1", "fromMe": True}}}, "instance_missing"),
        (["an", "array"], "not_an_object"),
        (None, "not_an_object"),
    ],
)
async def test_case_3_an_unknown_shape_is_kept_first_and_quarantined_later(
    service: Service, payload: object, reason: str
) -> None:
    assert (await service.post(payload)).status_code == 200
    await service.interpret()
    (row,) = await service.rows("SELECT id, reason, sealed FROM status_ingest.quarantine")
    assert row.reason == reason
    assert json.loads(KEY_RING.open(row.sealed, aad=row.id.bytes)) == payload


async def test_case_3_an_unknown_extra_key_changes_nothing(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.post(update("K1", "READ", surprise={"deep": [1]}))
    await service.interpret()
    assert len(await service.said(ReceiptRecorded)) == 1


async def test_case_8_all_shapes_of_one_delivery_are_one_receipt(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K3"))
    flat = {"keyId": "K3", "fromMe": True, "participant": None}
    nested: dict[str, object] = {"key": {"id": "K3"}}
    shapes: list[object] = [
        *({**flat, "status": status} for status in ("DELIVERY_ACK", "delivery_ack", 3, "3")),
        [{**nested, "update": {"status": 3}}],
        {**nested, "update": {"status": "3"}},
        flat,
        {**flat, "status": "READ", "fromMe": False},
    ]
    for data in shapes:
        await service.post({"event": "messages.update", "instance": "loja", "data": data})
    await service.interpret()
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.DELIVERED]
    await service.post(update("K3", 0))
    await service.post(update("K3", "PLAYED"))
    await service.interpret()
    said = [fact.status for fact in await service.said(ReceiptRecorded)]
    assert said == [Status.DELIVERED, Status.FAILED, Status.READ]
    assert await service.rows("SELECT 1 FROM status_ingest.quarantine") == []


async def test_case_10_nul_and_half_an_emoji_block_nothing(service: Service) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    echo = {"key": {"id": "K1", "fromMe": True}, "pushName": "Ana\x00B", "message": {"conversation": "half \ud83d"}}
    await service.post({"event": "send.message", "instance": "loja", "data": echo})
    await service.post(update("K1", "READ", pushName="a\x00\udc00", literal="backslash \\u0000"))
    await service.post(
        b'{"event":"messages.update","instance":"loja","data":{"keyId":"K1","status":"SERVER_ACK","x":"\xe9"}}'
    )
    await service.interpret()
    assert len(await service.said(EchoObserved)) == 1
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.READ, Status.SENT]
    assert await service.rows("SELECT 1 FROM status_ingest.quarantine") == []


async def test_case_52_credentials_are_gone_before_anything_is_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Findings:
        raise RuntimeError("INST GLOBAL")

    monkeypatch.setattr(interpret_events, "translate", broken)
    await service.post({"event": "error", "data": {"status": 400}, "api_key": "GLOBAL", "server_url": "http://gw"})
    await service.post(update("K1", "READ", apikey="INST"))
    await service.post(b'{"apikey": "INST", "server_url":"http://gw", broken')
    await service.interpret()
    rows = [
        *await service.rows("SELECT id, sealed, reason FROM status_ingest.quarantine"),
        *await service.rows("SELECT id, sealed, '' AS reason FROM status_ingest.raw_events"),
    ]
    assert sorted(row.reason for row in rows) == ["", "", "not_interpreted", "not_interpreted", "not_json"]
    for row in rows:
        opened = KEY_RING.open(row.sealed, aad=row.id.bytes)
        assert not any(secret in opened for secret in (b"GLOBAL", b"INST", b"http://gw"))


async def test_no_phone_and_no_text_rests_in_clear_in_any_table(service: Service, schema: Schema) -> None:
    key = {"id": "K1", "fromMe": True, "remoteJid": f"{PHONE}@s.whatsapp.net"}
    await service.keys.submit(dispatched(reference(), "K1"))
    await service.post(
        {"event": "send.message", "instance": "loja", "data": {"key": key, "message": {"conversation": TEXT}}}
    )
    await service.post(update("K1", "READ", sender=PHONE, remoteJid=f"{PHONE}@s.whatsapp.net"))
    await service.post(f'{{"{PHONE}": "{TEXT}"'.encode())
    await service.post({"event": TEXT, "instance": PHONE + "@lid", "data": PHONE})
    await service.post({"event": "messages.update", "instance": "loja", "data": {"messageId": PHONE, "body": TEXT}})
    await service.interpret()
    admin = await asyncpg.connect(schema.admin_url)
    try:
        found = await _everything(admin)
    finally:
        await admin.close()
    assert len(found) > 10
    assert not any(PHONE in row or TEXT in row or PHONE[4:] in row for row in found)


async def _everything(admin: asyncpg.Connection) -> list[str]:
    """Every row of every table of the schema as text, bytes decoded."""
    found: list[str] = []
    tables = await admin.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'status_ingest'")
    for table in tables:
        for row in await admin.fetch(f'SELECT * FROM status_ingest."{table["tablename"]}"'):
            values = [value.decode("latin-1") if isinstance(value, bytes) else str(value) for value in row.values()]
            found.append(" ".join(values))
    return found


async def test_an_event_that_spoils_its_batch_is_quarantined_alone(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_receipts = store.insert_receipts

    async def fail_for_one(tx: object, heard: object, **known: object) -> object:
        if any(receipt.key.message.key_id == "POISON" for receipt in heard):  # type: ignore[attr-defined]
            raise ValueError("the database refuses this one")
        return await insert_receipts(tx, heard, **known)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "insert_receipts", fail_for_one)
    for key_id in ("K1", "POISON", "K2"):
        await service.keys.submit(dispatched(reference(), key_id))
        await service.post(update(key_id, "READ"))
    await service.interpret()
    assert sorted(fact.key_id for fact in await service.said(ReceiptRecorded)) == ["K1", "K2"]
    (row,) = await service.rows("SELECT reason FROM status_ingest.quarantine")
    assert row.reason == "not_interpreted"
    assert await service.rows("SELECT 1 FROM status_ingest.raw_events WHERE interpreted_at IS NULL") == []


async def test_an_event_sealed_with_a_lost_key_is_quarantined(service: Service) -> None:
    await service.post(update("K1", "READ"))
    lost = KeyRing.parse("k2:MTEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
    other = interpret_events.InterpretEvents(
        database=service.database, key_ring=lost, pepper=service.interpreter.pepper
    )
    assert await other.step() is False
    (row,) = await service.rows("SELECT reason FROM status_ingest.quarantine")
    assert row.reason == "seal_broken"
