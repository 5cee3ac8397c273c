"""Evolution's own memory, asked over a real socket: what counts as evidence and what as no answer."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from tests.gateways.conftest import KEY, Behaviour, ScriptedGateway, answer, raw_then_hang, raw_then_reset

from gateways.evolution import EvolutionLookup, Timeouts
from gateways.evolution.lookup import PAGES_MAX
from gateways.port import Access, ConnectionState, LookupFailedError, ReceiptStatus, StoredMessage

MOMENT = datetime(2026, 1, 15, 12, 0, 0, 500_000, tzinfo=UTC)
SINCE, UNTIL = MOMENT - timedelta(minutes=5), MOMENT + timedelta(minutes=5)
MOBILE, SHORT_MOBILE, LANDLINE = "5531988000000", "553188000000", "553136000000"


@pytest.fixture
async def lookup() -> AsyncIterator[EvolutionLookup]:
    timeouts = Timeouts(connect_seconds=0.3, write_seconds=0.3, query_seconds=0.3)
    async with EvolutionLookup(timeouts=timeouts) as opened:
        yield opened


def record(
    key_id: str, *, phone: str = MOBILE, text: str = "ola", moment: datetime = MOMENT, **more: object
) -> Mapping[str, object]:
    return {
        "id": f"row-{key_id}",
        "key": {"id": key_id, "fromMe": True, "remoteJid": f"{phone}@s.whatsapp.net"},
        "message": {"conversation": text},
        "messageTimestamp": int(moment.timestamp()),
        "MessageUpdate": [],
        **more,
    }


def page(*records: Mapping[str, object], pages: int = 1, current: int = 1) -> Behaviour:
    body = {"total": len(records), "pages": pages, "currentPage": current, "records": records}
    return answer(200, {"messages": body})


async def ask(lookup: EvolutionLookup, access: Access, recipient: str, limit: int = 50) -> list[StoredMessage]:
    return list(await lookup.sent_messages(access, recipient=recipient, since=SINCE, until=UNTIL, limit=limit))


async def test_case_13_both_spellings_are_asked_with_both_jid_fields_and_iso_bounds(
    gateway: ScriptedGateway, lookup: EvolutionLookup
) -> None:
    gateway.script = [page()]
    assert await ask(lookup, gateway.access(), MOBILE) == []
    assert [seen.target for seen in gateway.seen] == ["/chat/findMessages/shop"] * 2
    assert [seen.json() for seen in gateway.seen] == [
        {
            "where": {
                "key": {
                    "fromMe": True,
                    "remoteJid": f"{spelling}@s.whatsapp.net",
                    "remoteJidAlt": f"{spelling}@s.whatsapp.net",
                },
                "messageTimestamp": {"gte": "2026-01-15T11:55:00Z", "lte": "2026-01-15T12:05:01Z"},
            },
            "page": 1,
            "offset": 50,
        }
        for spelling in (MOBILE, SHORT_MOBILE)
    ]
    assert gateway.seen[0].headers["apikey"] == KEY


async def test_case_13_what_the_other_spelling_remembers_is_found(
    gateway: ScriptedGateway, lookup: EvolutionLookup
) -> None:
    updates = [{"status": "READ"}, {"status": "SERVER_ACK"}, {"status": "DELETED"}]
    gateway.script = [page(), page(record("K1", phone=SHORT_MOBILE, MessageUpdate=updates))]
    (found,) = await ask(lookup, gateway.access(), MOBILE)
    assert found == StoredMessage(
        key_id="K1",
        recipient=SHORT_MOBILE,
        text="ola",
        sent_at=MOMENT.replace(microsecond=0),
        statuses=(ReceiptStatus.READ, ReceiptStatus.SENT),
    )
    assert SHORT_MOBILE not in repr(found)


async def test_messages_come_newest_first_once_each_and_limited(
    gateway: ScriptedGateway, lookup: EvolutionLookup
) -> None:
    older = record("K1", moment=MOMENT - timedelta(seconds=9))
    gateway.script = [page(record("K3"), record("K2", moment=MOMENT - timedelta(seconds=3))), page(record("K3"), older)]
    assert [found.key_id for found in await ask(lookup, gateway.access(), MOBILE)] == ["K3", "K2", "K1"]
    gateway.script = [page(record("K3"), older)]
    assert [found.key_id for found in await ask(lookup, gateway.access(), MOBILE, limit=1)] == ["K3"]


async def test_case_12_a_row_stored_under_a_lid_is_found_by_its_phone(
    gateway: ScriptedGateway, lookup: EvolutionLookup
) -> None:
    key = {
        "id": "K1",
        "fromMe": True,
        "remoteJid": "100000000000001@lid",
        "remoteJidAlt": f"{LANDLINE}@s.whatsapp.net",
    }
    gateway.script = [page({**record("K1"), "key": key})]
    (found,) = await ask(lookup, gateway.access(), LANDLINE)
    assert (found.key_id, found.recipient) == ("K1", LANDLINE)


@pytest.mark.parametrize(
    "stray",
    [
        record("K9", phone="5531988000001"),
        record("K9", moment=SINCE - timedelta(seconds=5)),
        record("K9", moment=UNTIL + timedelta(seconds=5)),
        {**record("K9"), "key": {"id": "K9", "fromMe": False, "remoteJid": f"{MOBILE}@s.whatsapp.net"}},
    ],
)
async def test_what_the_filter_should_have_kept_out_is_kept_out_here(
    gateway: ScriptedGateway, lookup: EvolutionLookup, stray: Mapping[str, object]
) -> None:
    gateway.script = [page(stray, record("K1"))]
    assert [found.key_id for found in await ask(lookup, gateway.access(), MOBILE)] == ["K1"]


async def test_further_pages_are_read_and_their_number_is_bounded(
    gateway: ScriptedGateway, lookup: EvolutionLookup
) -> None:
    gateway.script = [page(record("K2", phone=LANDLINE), pages=2), page(record("K1", phone=LANDLINE), pages=2)]
    assert len(await ask(lookup, gateway.access(), LANDLINE)) == 2
    assert [seen.json()["page"] for seen in gateway.seen] == [1, 2]
    gateway.script = [page(record("K1", phone=LANDLINE), pages=9_999)]
    with pytest.raises(LookupFailedError):
        await ask(lookup, gateway.access(), LANDLINE)
    assert len(gateway.seen) == 2 + PAGES_MAX


@pytest.mark.parametrize(
    "behaviour",
    [
        answer(500, {"status": 500, "error": "x", "response": {"message": "Connection Closed"}}),
        answer(404, {"status": 404, "error": "x", "response": {"message": ['The "shop" instance does not exist']}}),
        answer(401, {"status": 401, "error": "x", "response": {"message": "Unauthorized"}}),
        answer(200, b"<html>"),
        answer(200, []),
        answer(200, {"messages": None}),
        answer(200, {"messages": {"records": "x", "pages": 1}}),
        answer(200, {"messages": {"records": [{"key": None}], "pages": 1}}),
        answer(200, {"messages": {"records": [{**record("K1"), "messageTimestamp": None}], "pages": 1}}),
        raw_then_hang(),
        raw_then_reset(b""),
        raw_then_reset(b'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"messages":{"records":[]'),
    ],
)
async def test_an_unreadable_store_is_never_an_empty_one(
    gateway: ScriptedGateway, lookup: EvolutionLookup, behaviour: Behaviour
) -> None:
    gateway.script = [behaviour]
    with pytest.raises(LookupFailedError) as failure:
        await ask(lookup, gateway.access(), MOBILE)
    assert MOBILE not in str(failure.value)


@pytest.mark.parametrize(
    ("instance", "state"),
    [
        ({"instanceName": "shop", "state": "open"}, ConnectionState.OPEN),
        ({"instanceName": "shop", "state": "connecting"}, ConnectionState.CONNECTING),
        ({"instanceName": "shop", "state": "close"}, ConnectionState.CLOSE),
        ({"instanceName": "shop"}, ConnectionState.CONNECTING),
    ],
)
async def test_case_41_connection_state(
    gateway: ScriptedGateway, lookup: EvolutionLookup, instance: object, state: ConnectionState
) -> None:
    gateway.script = [answer(200, {"instance": instance})]
    assert await lookup.connection_state(gateway.access()) is state
    assert (gateway.seen[0].method, gateway.seen[0].target) == ("GET", "/instance/connectionState/shop")


async def test_an_unknown_instance_has_no_state(gateway: ScriptedGateway, lookup: EvolutionLookup) -> None:
    body = {"status": 404, "error": "Not Found", "response": {"message": ['The "shop" instance does not exist']}}
    gateway.script = [answer(404, body)]
    assert await lookup.connection_state(gateway.access()) is None


@pytest.mark.parametrize(
    "behaviour",
    [
        answer(404, b"<html>"),
        answer(401, {"status": 401, "error": "x", "response": {"message": "Unauthorized"}}),
        answer(200, {"instance": None}),
        answer(200, {"instance": {"state": "sideways"}}),
        raw_then_hang(),
    ],
)
async def test_no_answer_is_no_state(gateway: ScriptedGateway, lookup: EvolutionLookup, behaviour: Behaviour) -> None:
    gateway.script = [behaviour]
    with pytest.raises(LookupFailedError):
        await lookup.connection_state(gateway.access())


async def test_an_unusable_address_fails_the_lookup(lookup: EvolutionLookup) -> None:
    with pytest.raises(LookupFailedError):
        await lookup.connection_state(Access(base_url="nowhere", api_key=KEY, instance="shop"))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"imageMessage": {"caption": "ola"}}, "ola"),
        ({"imageMessage": {"mimetype": "image/jpeg"}}, None),
        ({"listMessage": {"title": "t", "description": "ola"}}, "*t*\n\nola"),
        ({"viewOnceMessage": {"message": {"interactiveMessage": {"body": {"text": "*t*\n\nola\n"}}}}}, "*t*\n\nola\n"),
    ],
)
async def test_stored_messages_of_every_kind_say_what_they_are_recognised_by(
    gateway: ScriptedGateway, lookup: EvolutionLookup, message: Mapping[str, object], text: str | None
) -> None:
    gateway.script = [page(record("K1", phone=LANDLINE, message=message))]
    (found,) = await ask(lookup, gateway.access(), LANDLINE)
    assert found.text == text
