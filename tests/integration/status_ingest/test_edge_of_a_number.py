"""Each number has an address of its own, whose secret opens nothing else; what it says of others is not believed."""

import base64
import hmac
import json
import time

import pytest

from chassis.telemetry.metrics import registry
from contracts.facts import ReceiptRecorded
from contracts.status import Status
from gateways.evolution.webhook_address import number_secret, own_path

from .conftest import KEY_RING, NEXT_TOKEN, TOKEN, Service, dispatched, reference, update

OWN = own_path(TOKEN, "loja")
SECRET = number_secret(TOKEN, "loja")


def signed(key: str, *, expired_seconds_ago: float = -500) -> str:
    """What Evolution makes of a `jwt_key`."""
    expires = time.time() - expired_seconds_ago
    parts = ({"alg": "HS256", "typ": "JWT"}, {"iat": expires - 600, "exp": expires, "app": "evolution"})
    head = ".".join(encoded(json.dumps(part).encode()) for part in parts)
    return f"{head}.{encoded(hmac.digest(key.encode(), head.encode(), 'sha256'))}"


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (OWN, {}),
        (f"{OWN}/", {}),
        (f"{OWN}/messages-update", {}),
        (f"{OWN}//messages-update", {}),
        (f"http://ingest//webhooks//evolution//loja//{SECRET}//messages-update", {}),
        (own_path(NEXT_TOKEN, "loja"), {}),
        ("/webhooks/evolution/loja", {"x-webhook-token": SECRET}),
        ("/webhooks/evolution/loja/messages-update", bearer(SECRET)),
        ("/webhooks/evolution/loja", bearer(signed(SECRET))),
        ("/webhooks/evolution/loja//messages-update", bearer(signed(SECRET, expired_seconds_ago=1_800))),
    ],
)
async def test_a_numbers_own_credential_wherever_it_is(service: Service, path: str, headers: dict[str, str]) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    answer = await service.client.post(path, json=update("K1", "READ"), headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"ok": True})
    await service.interpret()
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.READ]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/webhooks/evolution/loja", {}),
        (f"/webhooks/evolution/{SECRET}", {}),
        (f"/webhooks/evolution/shop/{SECRET}", {}),
        (f"/webhooks/evolution/LOJA/{SECRET}", {}),
        (f"/webhooks/evolution/loja/x/{SECRET}", {}),
        (f"/webhooks/evolution/loja/{SECRET[:-1]}", {}),
        (f"/webhooks/evolution/loja%00/{SECRET}", {}),
        ("/webhooks/evolution/shop", {"x-webhook-token": SECRET}),
        ("/webhooks/evolution/shop", bearer(signed(SECRET))),
        ("/webhooks/evolution/loja", bearer(signed("somebody else's secret"))),
        ("/webhooks/evolution", bearer(signed(SECRET))),
    ],
)
async def test_a_leaked_secret_opens_one_number_only(service: Service, path: str, headers: dict[str, str]) -> None:
    answer = await service.client.post(path, json=update("K1", "READ"), headers=headers)
    assert answer.status_code == 401
    assert SECRET not in answer.text
    assert await service.rows("SELECT 1 FROM status_ingest.raw_events") == []


@pytest.mark.parametrize("claimed", ["shop", "", "LOJA", 7, ["loja"], {"instance": "loja"}])
async def test_what_a_number_says_of_another_is_quarantined_and_changes_nothing(
    service: Service, claimed: object
) -> None:
    await service.keys.submit(dispatched(reference("shop"), "K1"))
    before = count_of("messages.update", "foreign_instance")
    answer = await service.post({**update("K1", "READ"), "instance": claimed, "apikey": "INST"}, path=OWN)
    assert answer.status_code == 200
    await service.interpret()
    (row,) = await service.rows("SELECT id, instance, reason, sealed FROM status_ingest.quarantine")
    assert (row.instance, row.reason) == ("loja", "foreign_instance")
    assert b"INST" not in KEY_RING.open(row.sealed, aad=row.id.bytes)
    assert await service.rows("SELECT 1 FROM status_ingest.raw_events") == []
    assert await service.said(ReceiptRecorded) == []
    assert count_of("messages.update", "foreign_instance") == before + 1


async def test_an_event_without_an_instance_is_the_numbers_own_whatever_a_header_says(service: Service) -> None:
    for instance in ("loja", "shop"):
        await service.keys.submit(dispatched(reference(instance), "K1"))
    body = {name: value for name, value in update("K1", "READ").items() if name != "instance"}
    answer = await service.client.post(OWN, json=body, headers={"x-instance-name": "shop"})
    assert answer.status_code == 200
    await service.interpret()
    assert [fact.ref.instance for fact in await service.said(ReceiptRecorded)] == ["loja"]


async def test_case_4_a_numbers_signed_token_that_is_far_too_old_is_quarantined(service: Service) -> None:
    headers = bearer(signed(SECRET, expired_seconds_ago=3 * 3_600))
    answer = await service.client.post("/webhooks/evolution/loja", json=update("K1", "READ"), headers=headers)
    assert answer.status_code == 200
    (row,) = await service.rows("SELECT instance, reason FROM status_ingest.quarantine")
    assert tuple(row) == ("loja", "credential_expired")


@pytest.mark.parametrize("body", [b"", b"{", b'{"instance":"loja"'])
async def test_case_3_hopeless_input_at_a_numbers_address_is_kept_under_its_name(service: Service, body: bytes) -> None:
    reason = "not_json" if body else "empty"
    before = count_of("none", reason)
    assert (await service.post(body, path=OWN)).status_code == 200
    (row,) = await service.rows("SELECT instance, reason FROM status_ingest.quarantine")
    assert tuple(row) == ("loja", reason)
    assert count_of("none", reason) == before + 1


async def test_the_address_answers_only_posts(service: Service) -> None:
    answer = await service.client.get(OWN)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert (await service.client.post("/webhooks/other", content=b"{")).status_code == 404


def count_of(event: str, result: str) -> float:
    """What the metric says."""
    labels = {"event": event, "result": result}
    return registry.get_sample_value("pilot_status_ingest_events_total", labels) or 0.0
