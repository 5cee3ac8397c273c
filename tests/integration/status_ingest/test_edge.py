"""The gateway's posts are answered 200 once they are safe, 503 when they are not, 401 for a wrong credential."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from io import StringIO

import httpx
import pytest

from chassis.telemetry.logs import GENERIC_FIELDS, JsonFormatter
from chassis.web import WebServer
from contracts.log_fields import LOG_FIELDS
from status_ingest.usecases import interpret_events
from status_ingest.usecases.keep_event import BODY_BYTES_MAX

from .conftest import NEXT_TOKEN, TOKEN, Service, replica, update

PATH = f"/webhooks/evolution/{TOKEN}"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (PATH, {}),
        (f"{PATH}/messages-update", {}),
        (f"{PATH}//messages-update", {}),
        (f"{PATH}/", {}),
        (f"http://ingest//webhooks//evolution//{TOKEN}//", {}),
        (f"/webhooks/evolution/{NEXT_TOKEN}", {}),
        ("/webhooks/evolution", {"authorization": f"Bearer {TOKEN}"}),
        ("/webhooks/evolution/messages-update", {"authorization": f"bearer {TOKEN}"}),
        ("/webhooks/evolution", {"x-webhook-token": TOKEN}),
    ],
)
async def test_a_right_credential_wherever_it_stands(service: Service, path: str, headers: dict[str, str]) -> None:
    answer = await service.client.post(path, json=update("K1", "READ"), headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"ok": True})
    assert service.woken == [True]
    assert len(await service.rows("SELECT 1 FROM status_ingest.raw_events")) == 1


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/webhooks/evolution", {}),
        ("/webhooks/evolution/", {}),
        (f"/webhooks/evolution/{TOKEN}x", {}),
        (f"/webhooks/evolution/x/{TOKEN}", {}),
        ("/webhooks/evolution/%ff%fe", {}),
        ("/webhooks/evolution", {"authorization": f"Basic {TOKEN}"}),
        ("/webhooks/evolution", {"x-webhook-token": TOKEN.upper()}),
    ],
)
async def test_a_wrong_credential_is_401_and_nothing_is_kept(
    service: Service, path: str, headers: dict[str, str]
) -> None:
    answer = await service.client.post(path, content=b"not even json", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["code"] == "WEBHOOK_CREDENTIAL_REFUSED"
    assert TOKEN not in answer.text
    assert await service.rows("SELECT 1 FROM status_ingest.raw_events") == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/json; charset=utf-7", "multipart/form-data", ""])
async def test_case_3_the_content_type_is_never_a_reason_to_refuse(service: Service, content_type: str) -> None:
    body = json.dumps(update("K1", "READ")).encode()
    answer = await service.client.post(PATH, content=body, headers={"content-type": content_type})
    assert answer.status_code == 200
    assert len(await service.rows("SELECT 1 FROM status_ingest.raw_events")) == 1


async def test_case_3_a_database_that_is_down_is_503_with_retry_after() -> None:
    async with AsyncExitStack() as stack:
        service = await replica("postgresql://nobody@127.0.0.1:1/nothing", stack)
        answer = await service.post(update("K1", "READ"))
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert service.woken == []


async def test_many_posts_at_once_share_commits(service: Service) -> None:
    answers = await asyncio.gather(*(service.post(update(f"K{number}", "READ")) for number in range(300)))
    assert {answer.status_code for answer in answers} == {200}
    assert (await service.rows("SELECT count(*) FROM status_ingest.raw_events"))[0].count == 300
    commits = await service.rows("SELECT count(DISTINCT xmin::text) AS commits FROM status_ingest.raw_events")
    assert commits[0].commits < 150


async def test_a_body_beyond_the_bound_is_noted_and_answered_200_over_a_real_socket(service: Service) -> None:
    server = WebServer(service.app, host="127.0.0.1", port=0)
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
            declared = await client.post(PATH, content=b"x" * (BODY_BYTES_MAX + 1))
            streamed = await client.post(PATH, content=_endless(BODY_BYTES_MAX * 2))
            small = await client.post(PATH, json=update("K1", "READ"))
    finally:
        await server.stop()
    assert [declared.status_code, streamed.status_code, small.status_code] == [200, 200, 200]
    rows = await service.rows("SELECT reason, sealed, size_bytes FROM status_ingest.quarantine")
    assert [tuple(row) for row in rows] == [("too_large", None, None)] * 2


async def _endless(size_bytes: int) -> AsyncIterator[bytes]:
    for _ in range(size_bytes // 65_536 + 1):
        yield b"x" * 65_536


async def test_case_52_no_credential_reaches_a_log_even_when_interpretation_breaks(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(payload: object, **_: object) -> None:
        raise RuntimeError(f"INST GLOBAL {payload}")

    monkeypatch.setattr(interpret_events, "translate", broken)
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter("status-ingest", allowed=GENERIC_FIELDS | frozenset(LOG_FIELDS)))
    logging.getLogger().addHandler(handler)
    try:
        await service.post({"event": "error", "data": {"status": 400}, "api_key": "GLOBAL", "server_url": "http://gw"})
        await service.post(update("K1", "READ", apikey="INST"))
        await service.post(b'{"apikey": "INST", broken')
        await service.client.post("/webhooks/evolution/GLOBAL", content=b"INST")
        await service.interpret()
    finally:
        logging.getLogger().removeHandler(handler)
    assert written.getvalue().count("event_not_read") == 2
    assert not any(secret in written.getvalue() for secret in ("GLOBAL", "INST", "http://gw"))
