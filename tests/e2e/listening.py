"""What the stories about numbers do with webhooks: listen to one number, and wait for what is told of it."""

import json
from typing import Any

import httpx
from pilot_status import parse_customer_webhook
from tests.e2e.client import ARRIVE_SECONDS

from local_stack.customer import Received, WebhookReceiver
from local_stack.system import System
from local_stack.waiting import wait_until


def listen(system: System, receiver: WebhookReceiver, number_id: str, *, tenant_key: str) -> None:
    """Have every event of a number posted to the receiver, as a key of the whole tenant asks for it."""
    hook = {"url": f"{receiver.url}/{number_id}", "name": "life", "events": ["*"], "whatsappNumberId": number_id}
    url = f"{system.api_url}/v1/webhooks"
    made = httpx.post(url, json=hook, headers={"x-api-key": tenant_key}, timeout=15, trust_env=False)
    assert made.status_code == 201, made.text
    receiver.secrets[number_id] = made.json()["secret"]


def heard(receiver: WebhookReceiver, event: str, count: int = 1) -> list[dict[str, Any]]:
    """The `data` of at least `count` webhooks of an event, each genuine and taken by the SDK's own parser."""
    wait_until(lambda: len(_hooks(receiver, event)) >= count, what=f"{count} x {event}", timeout_seconds=ARRIVE_SECONDS)
    hooks = _hooks(receiver, event)
    for hook in hooks:
        assert hook.verified
        assert parse_customer_webhook(json.loads(hook.body), unknown_events="raise")["event"] == event
    return [json.loads(hook.body)["data"] for hook in hooks]


def life_of(receiver: WebhookReceiver, number_id: str) -> list[str]:
    """What was told of one number, in its own order."""
    bodies = [json.loads(hook.body) for hook in receiver.snapshot() if hook.event.startswith("number.")]
    told = {body["data"]["version"]: body["event"] for body in bodies if body["data"]["numberId"] == number_id}
    return [told[version] for version in sorted(told)]


def _hooks(receiver: WebhookReceiver, event: str) -> list[Received]:
    """Without repeats: a delivery keeps its id."""
    return list({hook.webhook_id: hook for hook in receiver.snapshot() if hook.event == event}.values())
