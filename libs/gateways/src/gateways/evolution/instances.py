"""Creates and describes Evolution instances and points their webhooks at us."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateways.evolution.events import SUBSCRIBED_EVENTS
from gateways.evolution.exchange import AddressUnusableError, CallFailedError, EvolutionClient, build_request
from gateways.evolution.jids import phone_of
from gateways.evolution.reply import Reply, document, envelope_message, instance_unknown
from gateways.port import Access, ConnectionState

ANSWER_BYTES_MAX = 1024 * 1024

Integration = Literal["WHATSAPP-BAILEYS", "EVOLUTION"]

_WEBHOOK_URL = re.compile(r"https?://\S{1,2000}")
_STATES = {
    "open": ConnectionState.OPEN,
    "connecting": ConnectionState.CONNECTING,
    "close": ConnectionState.CLOSE,
}


class InstanceCallError(Exception):
    """The gateway could not be asked or did not do it; trying again may help."""


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


class EvolutionInstances(EvolutionClient):
    """The administrative side of Evolution."""

    async def create(
        self, access: Access, *, token: str, integration: Integration = "WHATSAPP-BAILEYS", phone: str | None = None
    ) -> None:
        """Create `access.instance` with its own `token`; `access.api_key` must be the gateway's global key."""
        body = {"instanceName": access.instance, "integration": integration, "token": token, "qrcode": False}
        if phone is not None:
            body["number"] = phone
        reply = await self._ask(access, "POST", "instance", "create", body=body)
        _expect(reply, status=201)

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
        except (AddressUnusableError, CallFailedError) as error:
            raise InstanceCallError(f"the call failed: {error}") from None


def _expect(reply: Reply, *, status: int) -> object:
    if reply.status == status:
        return document(reply)
    if instance_unknown(reply):
        raise InstanceNotFoundError("the gateway does not know the instance")
    if reply.status == 403 and "already in use" in str(envelope_message(reply)):
        raise InstanceNameTakenError("the gateway already has an instance of that name")
    if reply.status in (401, 403):
        raise GatewayAccessDeniedError(f"HTTP {reply.status}")
    raise InstanceCallError(f"HTTP {reply.status}")


def _info(name: str, row: Mapping[str, object]) -> InstanceInfo:
    status = row.get("connectionStatus")
    return InstanceInfo(
        name=name,
        state=_STATES.get(status) if isinstance(status, str) else None,
        phone=phone_of(row.get("ownerJid")) or phone_of(row.get("number")),
    )
