"""Creates, pairs, describes and removes Evolution instances, and points their webhooks at us."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gateways.evolution.events import SUBSCRIBED_EVENTS
from gateways.evolution.exchange import AddressUnusableError, CallFailedError, EvolutionClient, build_request
from gateways.evolution.jids import phone_of
from gateways.evolution.pairing import Pairing, pairing_of, state_of
from gateways.evolution.reply import Reply, document, envelope_message, instance_unknown
from gateways.port import Access, ConnectionState

ANSWER_BYTES_MAX = 1024 * 1024

Integration = Literal["WHATSAPP-BAILEYS", "EVOLUTION"]

_WEBHOOK_URL = re.compile(r"https?://\S{1,2000}")


class InstanceCallError(Exception):
    """The gateway could not be asked or did not do it; trying again may help."""


class InstanceTimeoutError(InstanceCallError):
    """No answer within the time of a query."""


class InstanceNotFoundError(InstanceCallError):
    """The gateway has no instance of that name."""


class InstanceNameTakenError(InstanceCallError):
    """The gateway already has an instance of that name."""


class GatewayAccessDeniedError(InstanceCallError):
    """The key is not accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceInfo:
    """An instance as its gateway lists it, without its token; the state is a copy that may lag."""

    name: str
    state: ConnectionState | None
    phone: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A WhatsApp group; its id ends in `@g.us`."""

    group_id: str
    subject: str = field(repr=False)


class EvolutionInstances(EvolutionClient):
    """The administrative side of Evolution."""

    async def create(
        self,
        access: Access,
        *,
        token: str,
        integration: Integration = "WHATSAPP-BAILEYS",
        phone: str | None = None,
        pair: bool = False,
    ) -> Pairing:
        """Create `access.instance` with its own `token`; `access.api_key` must be the gateway's global key.

        `pair` has it connect at once, so that the answer may hold a QR code; with `phone` also a pairing code.
        """
        body = {"instanceName": access.instance, "integration": integration, "token": token, "qrcode": pair}
        if phone is not None:
            body["number"] = phone
        reply = await self._ask(access, "POST", "instance", "create", body=body)
        created = _expect(reply, status=201)
        return pairing_of(created.get("qrcode") if isinstance(created, Mapping) else None)

    async def connect(self, access: Access) -> Pairing:
        """Begin to connect: what to scan or type, or state OPEN if there is nothing left to do."""
        return pairing_of(_expect(await self._ask(access, "GET", "instance", "connect", access.instance), status=200))

    async def state(self, access: Access) -> ConnectionState:
        """Evolution's view of the connection; an instance that is not loaded yet counts as connecting."""
        body = _expect(await self._ask(access, "GET", "instance", "connectionState", access.instance), status=200)
        state = pairing_of(body).state
        return ConnectionState.CONNECTING if state is None else state

    async def logout(self, access: Access) -> None:
        """End the session on the device; nothing happens to an instance without one."""
        reply = await self._ask(access, "DELETE", "instance", "logout", access.instance)
        if reply.status == 400 and "instance is not connected" in str(envelope_message(reply)):
            return
        _expect(reply, status=200)

    async def delete(self, access: Access) -> None:
        """Remove the instance with everything the gateway knows about it; a session is ended first."""
        _expect(await self._ask(access, "DELETE", "instance", "delete", access.instance), status=200)

    async def restart(self, access: Access) -> None:
        """Close the socket and open it again."""
        _expect(await self._ask(access, "POST", "instance", "restart", access.instance), status=200)

    async def groups(self, access: Access) -> Sequence[Group]:
        """The groups the number is in; needs a connected instance."""
        reply = await self._ask(
            access, "GET", "group", "fetchAllGroups", access.instance, params={"getParticipants": "false"}
        )
        rows = _expect(reply, status=200)
        if not isinstance(rows, list):
            raise InstanceCallError("the groups are not a list")
        return [group for row in rows if (group := _group(row)) is not None]

    async def set_webhook(self, access: Access, *, url: str, headers: Mapping[str, str] | None = None) -> None:
        """Send the events we understand to `url`; `headers` are repeated verbatim with each of them."""
        if _WEBHOOK_URL.fullmatch(url) is None:
            raise ValueError("Evolution drops events silently unless the URL begins with http:// or https://")
        webhook = {
            "enabled": True,
            "url": url,
            "byEvents": False,
            "base64": False,
            "headers": dict(headers or {}),
            "events": list(SUBSCRIBED_EVENTS),
        }
        reply = await self._ask(access, "POST", "webhook", "set", access.instance, body={"webhook": webhook})
        _expect(reply, status=201)

    async def fetch(self, access: Access) -> InstanceInfo:
        """Describe one instance; heavy on their side, so not a health check."""
        reply = await self._ask(access, "GET", "instance", "fetchInstances", params={"instanceName": access.instance})
        rows = _expect(reply, status=200)
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, Mapping) and row.get("name") == access.instance:
                return _info(access.instance, row)
        raise InstanceNotFoundError("the gateway does not list the instance")

    async def _ask(
        self,
        access: Access,
        method: str,
        *path: str,
        body: Mapping[str, object] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> Reply:
        try:
            request = build_request(access, method, *path, body=body, params=params)
            return await self._query(request, body_bytes_max=ANSWER_BYTES_MAX)
        except CallFailedError as error:
            kind = InstanceTimeoutError if "Timeout" in str(error) else InstanceCallError
            raise kind(f"the call failed: {error}") from None
        except AddressUnusableError as error:
            raise InstanceCallError(f"the call failed: {error}") from None


def _expect(reply: Reply, *, status: int) -> object:
    if reply.status == status:
        body = document(reply)
        if isinstance(body, Mapping) and body.get("error") is True:  # restart and connect report failures as 200
            raise InstanceCallError(f"HTTP {reply.status} with an error inside")
        return body
    if instance_unknown(reply):
        raise InstanceNotFoundError("the gateway does not know the instance")
    if reply.status == 403 and "already in use" in str(envelope_message(reply)):
        raise InstanceNameTakenError("the gateway already has an instance of that name")
    if reply.status in (401, 403):
        raise GatewayAccessDeniedError(f"HTTP {reply.status}")
    raise InstanceCallError(f"HTTP {reply.status}")


def _group(row: object) -> Group | None:
    group_id, subject = (row.get("id"), row.get("subject")) if isinstance(row, Mapping) else (None, None)
    if not isinstance(group_id, str) or not group_id.endswith("@g.us"):
        return None
    return Group(group_id=group_id, subject=subject if isinstance(subject, str) else "")


def _info(name: str, row: Mapping[str, object]) -> InstanceInfo:
    status = row.get("connectionStatus")
    return InstanceInfo(
        name=name,
        state=state_of(status),
        phone=phone_of(row.get("ownerJid")) or phone_of(row.get("number")),
    )
