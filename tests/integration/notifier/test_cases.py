"""The cases of the customers' webhooks, by number: signatures, redirects, and ways into our network."""

import base64
import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.hmac import HMAC
from pilot_status import parse_customer_webhook
from standardwebhooks.webhooks import Webhook

from contracts.questions import (
    ChangeEndpoint,
    EndpointRegistered,
    FindEndpoint,
    ListDeliveryLog,
    RegisterEndpoint,
    Rejected,
    RotateSecret,
    TryEndpoint,
)
from contracts.values import Environment
from notifier.domain.signature import pilot_signature, standard_signature

TEXT = 'Olá 👩‍👩‍👧 "ç" </script> \u2028 1.0 1e3'
PUBLIC = "93.184.216.34"


def macs(secret: str, request: Any) -> tuple[str, str]:
    """Both signatures by OpenSSL's HMAC, which is not what we sign with: of the body, and of id, time and body."""

    def mac(key: bytes, data: bytes) -> bytes:
        made = HMAC(key, hashes.SHA256())
        made.update(data)
        return made.finalize()

    head = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return mac(secret.encode(), request.body).hex(), "v1," + base64.b64encode(mac(key, head + request.body)).decode()


async def test_case_51_the_captured_bytes_verify_at_first_on_a_retry_and_during_a_rotation(
    build: Any, customer: Any
) -> None:
    rig = await build()
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply()]
    endpoint_id, old = await rig.endpoint(customer.url())
    await rig.hear(rig.fact(text=TEXT))
    await rig.work_off()
    rotated = await rig.manage.rotate(RotateSecret(tenant_id=rig.tenant_id, endpoint_id=endpoint_id))
    new = rig.ring.open(rotated.sealed_secret, aad=endpoint_id.bytes).decode()
    while not await rig.work_off():
        pass
    first, retried = customer.received
    by_body, standard = macs(old, first)
    assert (first.headers["x-pilot-status-signature"], first.headers["webhook-signature"]) == (by_body, standard)
    assert "x-pilot-status-signature-previous" not in first.headers
    (body_new, standard_new), (body_old, standard_old) = macs(new, retried), macs(old, retried)
    assert retried.headers["x-pilot-status-signature"] == body_new
    assert retried.headers["x-pilot-status-signature-previous"] == body_old
    assert retried.headers["webhook-signature"] == f"{standard_new} {standard_old}", "both, separated by a space"
    for secret in (old, new):
        assert Webhook(secret).verify(retried.body, retried.headers) == json.loads(retried.body)
    assert first.body == retried.body
    assert json.loads(first.body)["data"]["content"] == TEXT


@pytest.mark.parametrize("material", [bytes([0xFB, 0xEF, 0xBE] * 8), bytes([0xFF] * 31), bytes(range(32)), b"_" * 24])
def test_case_51_secrets_with_every_letter_of_base64(material: bytes) -> None:
    """`+`, `/` and `=` are in them; the key of the one signature is the text, of the other what it stands for."""
    secret, body = "whsec_" + base64.b64encode(material).decode(), TEXT.encode()
    made = standard_signature(secret, webhook_id="msg_1", timestamp=1_767_225_600, body=body)
    by_openssl = HMAC(material, hashes.SHA256())
    by_openssl.update(b"msg_1.1767225600." + body)
    assert made == "v1," + base64.b64encode(by_openssl.finalize()).decode()
    by_text = HMAC(secret.encode(), hashes.SHA256())
    by_text.update(body)
    assert pilot_signature(secret, body) == by_text.finalize().hex()
    assert pilot_signature(secret, body) != pilot_signature(secret + "\n", body), "a line end is not part of it"


@pytest.mark.parametrize("target", ["page", "loop", "private"])
async def test_case_54_a_redirect_is_a_failure_that_says_use_the_final_url(
    build: Any, customer: Any, target: str
) -> None:
    rig = await build(pauses=(3_600,))
    location = {"page": "/login", "loop": "/hook", "private": "/private"}[target]
    statuses = [301, 302, 303, 307, 308]
    customer.replies["/hook"] = [
        customer.reply(status=status, headers={"location": customer.url(location)}) for status in statuses
    ]
    endpoint_id, _ = await rig.endpoint(customer.url())
    for _ in statuses:
        await rig.hear(rig.fact())
        await rig.work_off()
    assert [(request.method, request.path) for request in customer.received] == [("POST", "/hook")] * 5
    assert customer.connections == 5, "not even a connection to where it points"
    log = await rig.manage.log(ListDeliveryLog(tenant_id=rig.tenant_id, endpoint_id=endpoint_id))
    assert sorted(attempt.status for attempt in log.attempts) == statuses
    for attempt in log.attempts:
        assert (attempt.succeeded, attempt.problem) == (False, "REDIRECT")
        assert "use the final URL" in attempt.hint
    assert await rig.states() == ["PENDING"] * 5


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>Log in</html>"), (200, b""), (202, b"later"), (204, b"")])
async def test_case_54_any_2xx_is_success_whatever_the_body_says(
    build: Any, customer: Any, status: int, body: bytes
) -> None:
    rig = await build()
    customer.replies["/hook"] = [customer.reply(status=status, body=body)]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    assert await rig.states() == ["DELIVERED"]


async def test_case_54_410_switches_off_and_the_owner_sees_why_and_since_when(build: Any, customer: Any) -> None:
    rig = await build()
    customer.replies["/hook"] = [customer.reply(status=410), customer.reply()]
    endpoint_id, _ = await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    about = {"tenant_id": rig.tenant_id, "endpoint_id": endpoint_id}
    off = (await rig.manage.find(FindEndpoint(**about))).endpoint
    assert (off.active, off.disabled_reason) == (False, "GONE")
    assert "410" in off.disabled_hint
    assert off.disabled_at is not None
    tried = await rig.attempt(TryEndpoint(**about, project_id=uuid4(), environment=Environment.LIVE))
    assert tried.code == "WEBHOOK_INACTIVE"
    on = (await rig.manage.change(ChangeEndpoint(**about, active=True))).endpoint
    assert (on.active, on.disabled_reason, on.disabled_at) == (True, None, None)


CASE_55 = [
    "http://127.0.0.1",
    "http://2130706433",
    "http://0x7f000001",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:a9fe:a9fe]",
    "http://169.254.169.254/",
    "http://[::1]",
    "http://100.64.0.1",
    "http://user:pw@host/",
    "ftp://x",
    "https://host:5672",
]
MORE_55 = [
    *(url.replace("http://", "https://") for url in CASE_55 if url.startswith("http://")),
    *("https://0177.0.0.1", "https://127.1", "https://017700000001", "https://0x7f.0x0.0x0.0x1"),
    *("https://[64:ff9b::7f00:1]", "https://[2002:7f00:1::]", "https://[fe80::1]", "https://[fd00::1]", "https://[::]"),
    *("https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "https://0.0.0.0", "https://198.18.0.1", "https://10.1.2.3"),
    *("https://255.255.255.255", "https://224.0.0.1", "https://localhost", "https://broker", "https://example.com:22"),
    *("https://１２７.0.0.1", "https://127。0。0。1", "https://example.com\\@127.0.0.1/", "https://1.1.1.1@127.0.0.1/"),
]
NAMES_55 = [
    ["127.0.0.1"],
    [PUBLIC, "10.0.0.1"],
    ["10.0.0.1", PUBLIC],
    [PUBLIC, "::ffff:169.254.169.254"],
    ["64:ff9b::a9fe:a9fe"],
    ["2002:a9fe:a9fe::1"],
    ["100.64.0.1"],
    ["169.254.169.254"],
    ["fe80::1%eth0"],
    ["::1"],
]


class Names:
    """A resolver of ours: its answers in turn, the last again and again."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def test_case_55_refused_at_save_and_at_each_send(build: Any) -> None:
    rig = await build(allow_private=False, resolve=Names([PUBLIC]), pauses=())
    asked = {"tenant_id": rig.tenant_id, "number_id": rig.number_id, "instance": "acme", "name": "hook"}
    endpoint_id, _ = await rig.endpoint("https://hooks.example.com/")
    for url in (*CASE_55, *MORE_55):
        refused = await rig.register(RegisterEndpoint(**asked, url=url, events=("*",)))
        changed = await rig.manage.change(ChangeEndpoint(tenant_id=rig.tenant_id, endpoint_id=endpoint_id, url=url))
        for answer in (refused, changed):
            assert isinstance(answer, Rejected), url
            assert answer.code == "WEBHOOK_URL_REFUSED"
            assert not any(inside in answer.message for inside in ("127", "169", "::", "10.0"))
        await rig.rows("UPDATE notifier.endpoints SET url = :url, failures = 0 RETURNING 1", url=url)
        await rig.hear(rig.fact())
        assert await rig.work_off() == 1
        [last] = await rig.rows("DELETE FROM notifier.delivery_attempts RETURNING status, problem")
        assert (last.status, last.problem) == (None, "FORBIDDEN_TARGET"), url


@pytest.mark.parametrize("addresses", NAMES_55)
async def test_case_55_a_name_that_leads_inside_is_refused_at_save_and_when_it_turns_at_send(
    build: Any, customer: Any, addresses: list[str]
) -> None:
    """As `127.0.0.1.nip.io` does, or a name whose owner changes it after saving; nobody inside is dialled."""
    rig = await build(allow_private=False, resolve=Names(addresses))
    asked = RegisterEndpoint(
        tenant_id=uuid4(), number_id=uuid4(), instance="acme", name="h", url="https://127.0.0.1.nip.io/", events=("*",)
    )
    assert isinstance(await rig.register(asked), Rejected)
    turning = await build(allow_private=False, resolve=Names([PUBLIC], addresses))
    assert isinstance(await turning.register(asked.model_copy(update={"number_id": rig.number_id})), EndpointRegistered)
    await turning.rows("UPDATE notifier.endpoints SET tenant_id = :id RETURNING 1", id=turning.tenant_id)
    await turning.hear(turning.fact(number_id=rig.number_id))
    await turning.work_off()
    [attempt] = await turning.rows("SELECT status, problem FROM notifier.delivery_attempts")
    assert (attempt.status, attempt.problem) == (None, "FORBIDDEN_TARGET")
    assert customer.connections == 0


async def test_case_55_what_the_test_button_shows_tells_nothing_of_our_network(build: Any, customer: Any) -> None:
    rig = await build(allow_private=False, resolve=Names([PUBLIC], ["10.11.12.13"]))
    endpoint_id, _ = await rig.endpoint("https://hooks.example.com/")
    about = {"tenant_id": rig.tenant_id, "endpoint_id": endpoint_id}
    await rig.attempt(TryEndpoint(**about, project_id=uuid4(), environment=Environment.LIVE))
    await rig.work_off()
    log = await rig.manage.log(ListDeliveryLog(**about))
    [attempt] = log.attempts
    assert (attempt.problem, attempt.sealed_response) == ("FORBIDDEN_TARGET", None)
    assert "10.11.12.13" not in log.model_dump_json()
    body = rig.ring.open(attempt.sealed_payload, aad=attempt.delivery_id.bytes)
    assert parse_customer_webhook(json.loads(body))["type"] == "unknown"
