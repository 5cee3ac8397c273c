"""A customer's server is down for three days, and then up: everything arrives once in effect, in order per message."""

import base64
import hashlib
import hmac
import json
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from standardwebhooks.webhooks import Webhook

from contracts.ids import uuid7
from contracts.questions import RotateSecret, SecretRotated
from contracts.status import Status
from notifier.settings import PAUSES_SECONDS

STEPS = ((Status.QUEUED, Status.SENT, 3), (Status.SENT, Status.DELIVERED, 4), (Status.DELIVERED, Status.READ, 5))
DOWN = timedelta(days=3)
TICK = timedelta(minutes=20)


class VirtualTime:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.start = self.now = datetime.now(UTC) + timedelta(minutes=1)

    def __call__(self) -> datetime:
        return self.now


def is_ours(request: Any, secrets: list[str]) -> bool:
    """What a receiver checks in ten lines, without any library of ours or of others."""
    signed = b".".join(
        [request.headers["webhook-id"].encode(), request.headers["webhook-timestamp"].encode(), request.body]
    )
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        standard = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        by_body = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
        given = [request.headers.get(f"x-pilot-status-signature{end}") for end in ("", "-previous")]
        if by_body in given and standard in request.headers["webhook-signature"].split():
            return True
    return False


def is_ours_to_the_package(request: Any, secrets: list[str]) -> bool:
    """The same signature as the published package makes; its own check compares with the real time of day."""
    at = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
    made = {Webhook(secret).sign(request.headers["webhook-id"], at, request.body.decode()) for secret in secrets}
    return bool(made & set(request.headers["webhook-signature"].split()))


async def work_off(rig: Any, time: VirtualTime) -> None:
    while await rig.work_off(now=time.now, slots=50):
        pass


async def test_three_days_down_then_everything_once_in_effect_in_order_per_message(build: Any, customer: Any) -> None:
    time = VirtualTime()
    rig = await build(pauses=PAUSES_SECONDS, clock=time)
    endpoint_id, secret = await rig.endpoint(customer.url())
    port = int(customer.url().split(":")[2].split("/")[0])
    secrets, messages, told = [secret], [uuid7() for _ in range(12)], 0
    await customer.stop()
    while time.now < time.start + DOWN:
        if told < 3 * len(messages) and time.now >= time.start + told * DOWN / (3 * len(messages)):
            before, status, version = STEPS[told // len(messages)]
            message_id = messages[told % len(messages)]
            await rig.hear(
                rig.fact(status, previous=before, version=version, message_id=message_id, text="Olá ç 👩‍👩‍👧")
            )
            told += 1
            continue
        await work_off(rig, time)
        time.now += TICK
    assert told == 36
    assert set(await rig.states()) == {"PENDING"}
    await customer.start(port=port)
    customer.replies["/hook"] = [customer.reply(), customer.reply(status=500), customer.reply()]
    rotated = await rig.manage.rotate(RotateSecret(tenant_id=rig.tenant_id, endpoint_id=endpoint_id))
    assert isinstance(rotated, SecretRotated)
    secrets.append(rig.ring.open(rotated.sealed_secret, aad=endpoint_id.bytes).decode())
    while set(await rig.states()) != {"DELIVERED"}:
        assert time.now < time.start + timedelta(days=5), "everything within the longest pause"
        await work_off(rig, time)
        time.now += TICK
    _assert_once_in_order(customer, messages, secrets)


def _assert_once_in_order(customer: Any, messages: list[Any], secrets: list[str]) -> None:
    came: dict[str, list[Any]] = defaultdict(list)
    for request in customer.received:
        assert is_ours(request, secrets)
        assert is_ours_to_the_package(request, secrets)
        came[json.loads(request.body)["data"]["id"]].append(request)
    assert set(came) == {str(message_id) for message_id in messages}
    repeats = Counter(request.headers["webhook-id"] for request in customer.received)
    assert len(repeats) == 36
    assert sorted(repeats.values()) == [1] * 35 + [2], "one answer was a 500, and its delivery came once more"
    for requests in came.values():
        versions = [json.loads(request.body)["data"]["version"] for request in requests]
        assert set(versions) == {3, 4, 5}
        assert all(first <= then for first, then in pairwise(versions))
