"""Webhook settings: POST /webhook/set, which must be wrapped, and GET /webhook/find."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import errors, ids, schema
from evolution_simulator.instances import Instance, Webhook, iso_now
from evolution_simulator.requests import Call, ExpressJSON, for_instance

EVENTS = (
    *("APPLICATION_STARTUP", "QRCODE_UPDATED", "MESSAGES_SET", "MESSAGES_UPSERT", "MESSAGES_EDITED"),
    *("MESSAGES_UPDATE", "MESSAGES_DELETE", "SEND_MESSAGE", "SEND_MESSAGE_UPDATE", "CONTACTS_SET"),
    *("CONTACTS_UPSERT", "CONTACTS_UPDATE", "PRESENCE_UPDATE", "CHATS_SET", "CHATS_UPSERT", "CHATS_UPDATE"),
    *("CHATS_DELETE", "GROUPS_UPSERT", "GROUP_UPDATE", "GROUP_PARTICIPANTS_UPDATE", "CONNECTION_UPDATE"),
    *("LABELS_EDIT", "LABELS_ASSOCIATION", "CALL", "TYPEBOT_START", "TYPEBOT_CHANGE_STATUS", "REMOVE_INSTANCE"),
    *("LOGOUT_INSTANCE", "INSTANCE_CREATE", "INSTANCE_DELETE", "STATUS_INSTANCE"),
)
CHECKS: Mapping[str, schema.Check] = {
    "enabled": schema.boolean,
    "url": schema.text,
    "headers": schema.mapping,
    "byEvents": schema.boolean,
    "base64": schema.boolean,
    "events": schema.list_of(schema.one_of(EVENTS)),
}


@for_instance
async def set_webhook(call: Call) -> Response:
    wanted = call.body.get("webhook")
    if "webhook" not in call.body:
        raise errors.schema_violation(['instance requires property "webhook"'])
    if not isinstance(wanted, dict):
        raise errors.schema_violation(["webhook is not of a type(s) object"])
    found = problems_of(wanted, required=("enabled", "url"))
    if found:
        raise errors.schema_violation(found)
    if wanted["enabled"] and "events" not in wanted:
        raise errors.internal_error("Cannot read properties of undefined (reading 'length')")
    webhook = webhook_from(wanted, known=call.instance.webhook)
    instance = call.simulator.registry.put(replace(call.instance, webhook=webhook))
    return ExpressJSON(row_of(instance, webhook), 201)


@for_instance
async def find_webhook(call: Call) -> Response:
    webhook = call.instance.webhook
    return ExpressJSON(None if webhook is None else row_of(call.instance, webhook))


def problems_of(wanted: Mapping[str, Any], required: Sequence[str]) -> list[str]:
    return [_inside(problem) for problem in schema.problems(wanted, CHECKS, required=required)]


def webhook_from(wanted: Mapping[str, Any], known: Webhook | None) -> Webhook:
    """The settings as kept; no events, or none named, means all of them."""
    now = iso_now()
    return Webhook(
        url=wanted["url"],
        enabled=wanted.get("enabled", True),
        headers={str(name): str(value) for name, value in (wanted.get("headers") or {}).items()},
        events=tuple(wanted.get("events") or EVENTS),
        by_events=wanted.get("byEvents", False),
        base64=wanted.get("base64", False),
        created_at=now if known is None else known.created_at,
        updated_at=now,
    )


def row_of(instance: Instance, webhook: Webhook) -> dict[str, Any]:
    return {
        "id": ids.webhook_row_id(instance.name),
        "url": webhook.url,
        "headers": webhook.headers,
        "enabled": webhook.enabled,
        "events": list(webhook.events),
        "webhookByEvents": webhook.by_events,
        "webhookBase64": webhook.base64,
        "createdAt": webhook.created_at,
        "updatedAt": webhook.updated_at,
        "instanceId": instance.id,
    }


def _inside(problem: str) -> str:
    """Problems of the inner object carry its name."""
    return problem.replace("instance requires", "webhook requires") if "requires" in problem else f"webhook.{problem}"


ROUTES = [
    Route("/webhook/set/{instance}", set_webhook, methods=["POST"]),
    Route("/webhook/find/{instance}", find_webhook, methods=["GET"]),
]
