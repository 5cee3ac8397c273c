"""Instances: create, list, pair, connection state, log out, restart, delete."""

import base64
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import errors, schema
from evolution_simulator.faults import Fault
from evolution_simulator.instances import Instance, State, default_number, iso_now
from evolution_simulator.requests import Call, ExpressJSON, for_instance, key_matches, read_body, simulator_of
from evolution_simulator.routes import webhook as webhook_routes

_CREATE_CHECKS: Mapping[str, schema.Check] = {
    "instanceName": schema.text,
    "integration": schema.text,
    "token": schema.text,
    "number": schema.text,
    "qrcode": schema.boolean,
    "webhook": schema.mapping,
}
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
_SETTINGS = {
    "rejectCall": False,
    "msgCall": "",
    "groupsIgnore": False,
    "alwaysOnline": False,
    "readMessages": False,
    "readStatus": False,
    "syncFullHistory": False,
    "wavoipToken": "",
}


async def create(request: Request) -> Response:
    """Only the global key may create. Without `qrcode` the new number is connected at once; with it, it waits to be
    paired, which happens when its state is set to open."""
    simulator = simulator_of(request)
    body = await read_body(request, simulator.settings.body_bytes_max)
    if not key_matches(request, simulator.settings.api_key):
        raise errors.unauthorized()
    found = schema.problems(body, _CREATE_CHECKS, required=("instanceName",))
    found += webhook_routes.problems_of(_webhook_wanted(body), required=())
    if found:
        raise errors.schema_violation(found)
    name = body["instanceName"]
    if simulator.registry.get(name) is not None:
        raise errors.name_in_use(name)
    instance = simulator.registry.put(_instance_from(body))
    if body.get("qrcode") is True:
        instance = simulator.registry.put(replace(instance, state=State.CONNECTING, paired=False))
        return ExpressJSON(_created(instance) | {"qrcode": _qr_code(instance)}, 201)
    simulator.change_state(instance, State.OPEN)
    return ExpressJSON(_created(instance), 201)


async def fetch_instances(request: Request) -> Response:
    """All instances for the global key, its own for an instance token; optionally one name, id or number."""
    simulator = simulator_of(request)
    whole = key_matches(request, simulator.settings.api_key)
    visible = [instance for instance in simulator.registry.all() if whole or key_matches(request, instance.token)]
    if not visible and not whole:
        raise errors.unauthorized()
    wanted = request.query_params
    found = [instance for instance in visible if _is_wanted(instance, wanted)]
    if not found and wanted.get("instanceName"):
        raise errors.instance_not_found(wanted["instanceName"])
    counts = simulator.messages.count
    return ExpressJSON([_listed(instance, counts(instance.name)) for instance in found])


@for_instance
async def connection_state(call: Call) -> Response:
    """A number that is not in memory has no state, and a dead socket is open until somebody writes to it."""
    if call.simulator.faults.of(call.instance.name) is Fault.NOT_LOADED:
        return ExpressJSON({"instance": {"instanceName": call.instance.name}})
    return ExpressJSON({"instance": {"instanceName": call.instance.name, "state": call.instance.state}})


@for_instance
async def connect(call: Call) -> Response:
    """A closed number that was paired is open after this, and says so by its webhook; another gets its QR code."""
    instance = call.instance
    if not instance.paired:
        call.simulator.registry.put(replace(instance, state=State.CONNECTING))
        return ExpressJSON(_qr_code(instance))
    if instance.state is not State.OPEN:
        instance = call.simulator.change_state(instance, State.OPEN)
    return ExpressJSON({"instance": {"instanceName": instance.name, "state": instance.state}})


@for_instance
async def log_out(call: Call) -> Response:
    """The session is gone: the number must be paired anew."""
    if call.instance.state is State.CLOSE:
        raise errors.bad_request(f'The "{call.instance.name}" instance is not connected')
    _end_session(call)
    return ExpressJSON({"status": "SUCCESS", "error": False, "response": {"message": "Instance logged out"}})


@for_instance
async def delete(call: Call) -> Response:
    """A session is ended first."""
    if call.instance.state is not State.CLOSE:
        _end_session(call)
    call.simulator.registry.remove(call.instance.name)
    return ExpressJSON({"status": "SUCCESS", "error": False, "response": {"message": "Instance deleted"}})


@for_instance
async def restart(call: Call) -> Response:
    """The failure is a 200 with an error inside, as the real gateway has it."""
    if call.instance.state is not State.OPEN:
        return ExpressJSON({"error": True, "message": f'The "{call.instance.name}" instance is not connected'})
    call.simulator.faults.put(call.instance.name, None)
    instance = call.simulator.change_state(call.instance, State.OPEN)
    return ExpressJSON({"instance": {"instanceName": instance.name, "state": instance.state}})


@for_instance
async def fetch_groups(call: Call) -> Response:
    """One group for each number, so that a client has something to list."""
    if call.instance.state is not State.OPEN:
        raise errors.internal_error(errors.CONNECTION_CLOSED)
    group_id = f"120363{int(call.instance.id.replace('-', ''), 16) % 10**12:012d}@g.us"
    return ExpressJSON([{"id": group_id, "subject": f"Group of {call.instance.name}", "size": 2}])


def _end_session(call: Call) -> None:
    closed = call.simulator.change_state(call.instance, State.CLOSE)
    call.simulator.registry.put(replace(closed, paired=False))


def _qr_code(instance: Instance) -> dict[str, Any]:
    """Not a picture of a code, but the shape of one: a single transparent pixel."""
    code = f"2@{base64.b64encode(instance.id.encode()).decode()}"
    return {
        "pairingCode": instance.id.replace("-", "")[:8].upper() if instance.number else None,
        "code": code,
        "base64": f"data:image/png;base64,{_PIXEL}",
        "count": 1,
    }


def _is_wanted(instance: Instance, wanted: Mapping[str, str]) -> bool:
    return (
        wanted.get("instanceName") in (None, "", instance.name)
        and wanted.get("instanceId") in (None, "", instance.id)
        and wanted.get("number") in (None, "", instance.number)
    )


def _instance_from(body: Mapping[str, Any]) -> Instance:
    name, wanted = body["instanceName"], _webhook_wanted(body)
    return Instance(
        name=name,
        token=body.get("token") or str(uuid.uuid4()).upper(),
        number=body.get("number") or default_number(name),
        integration=body.get("integration", "WHATSAPP-BAILEYS"),
        webhook=webhook_routes.webhook_from(wanted, known=None) if wanted.get("url") else None,
        created_at=iso_now(),
    )


def _webhook_wanted(body: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted = body.get("webhook")
    return wanted if isinstance(wanted, dict) else {}


def _created(instance: Instance) -> dict[str, Any]:
    webhook = instance.webhook
    return {
        "instance": {
            "instanceName": instance.name,
            "instanceId": instance.id,
            "integration": instance.integration,
            "webhookWaBusiness": None,
            "accessTokenWaBusiness": "",
            "status": instance.state,
        },
        "hash": instance.token,
        "webhook": {}
        if webhook is None
        else {
            "webhookUrl": webhook.url,
            "webhookHeaders": webhook.headers,
            "webhookByEvents": webhook.by_events,
            "webhookBase64": webhook.base64,
        },
        "websocket": {},
        "rabbitmq": {},
        "nats": {},
        "sqs": {},
        "settings": _SETTINGS,
    }


def _listed(instance: Instance, messages: int) -> dict[str, Any]:
    return {
        "id": instance.id,
        "name": instance.name,
        "connectionStatus": instance.state,
        "ownerJid": instance.owner_jid,
        "profileName": instance.name,
        "profilePicUrl": None,
        "integration": instance.integration,
        "number": instance.number,
        "businessId": None,
        "token": instance.token,
        "clientName": "evolution",
        "disconnectionReasonCode": None,
        "disconnectionObject": None,
        "disconnectionAt": None,
        "createdAt": instance.created_at,
        "updatedAt": instance.created_at,
        **dict.fromkeys(("Chatwoot", "Proxy", "Rabbitmq", "Nats", "Sqs", "Websocket")),
        "Setting": _SETTINGS,
        "_count": {"Message": messages, "Contact": 0, "Chat": 0},
    }


ROUTES = [
    Route("/instance/create", create, methods=["POST"]),
    Route("/instance/fetchInstances", fetch_instances, methods=["GET"]),
    Route("/instance/connectionState/{instance}", connection_state, methods=["GET"]),
    Route("/instance/connect/{instance}", connect, methods=["GET"]),
    Route("/instance/logout/{instance}", log_out, methods=["DELETE"]),
    Route("/instance/delete/{instance}", delete, methods=["DELETE"]),
    Route("/instance/restart/{instance}", restart, methods=["POST"]),
    Route("/group/fetchAllGroups/{instance}", fetch_groups, methods=["GET"]),
]
