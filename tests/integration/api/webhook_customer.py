"""A customer of the running api with a number and webhooks: what its tests ask, and where its deliveries arrive."""

import hashlib
import hmac
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx

from chassis.seal import KeyRing
from contracts.facts import MessageStatusChanged
from contracts.ids import uuid7
from contracts.status import Status
from contracts.values import Category, ConnectionState, Environment, MessageContent, MessageRef

from .running import SEAL_KEYS, Account, RunningApi


@dataclass(slots=True, kw_only=True)
class Sink:
    """A customer's server that remembers what it gets, and answers as told."""

    url: str
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    status: int = 200


@contextmanager
def opened_sink() -> Iterator[Sink]:
    """Listening on loopback until the end of the block."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            opened.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(opened.status)
            self.send_header("content-length", "4")
            self.end_headers()
            self.wfile.write(b"okay")

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    opened = Sink(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield opened
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(slots=True, kw_only=True)
class Client:
    """A customer with a connected number and its key."""

    api: RunningApi
    account: Account
    number_id: str
    instance: str
    key: str = field(repr=False)

    async def ask(self, method: str, path: str = "", *, key: str | None = None, **more: Any) -> httpx.Response:
        headers = {"x-api-key": key or self.key, **more.pop("headers", {})}
        return await self.api.client.request(
            method, f"/v1/webhooks{path}", headers=headers, params=more.pop("params", None), json=more or None
        )

    async def registered(self, url: str, *events: str, **more: Any) -> dict[str, Any]:
        answer = await self.ask("POST", url=url, events=list(events), name="hook", **more)
        assert answer.status_code == 201, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def tenant_key(self) -> str:
        issued = await self.api.operator(
            "keys", projectId=self.account.project_id, environment="LIVE", name="t", scope="tenant"
        )
        return str(issued["key"])

    async def happened(self, status: Status, text: str = "Olá") -> None:
        """A message of the number changed its status, as the api says it."""
        message_id = uuid7()
        ref = MessageRef(
            message_id=message_id,
            tenant_id=UUID(self.account.tenant_id),
            project_id=UUID(self.account.project_id),
            number_id=UUID(self.number_id),
            instance=self.instance,
            environment=Environment.LIVE,
            category=Category.UTILITY,
            correlation_id="c",
        )
        content = MessageContent(to="5547991000000", text=text)
        now = datetime.now(UTC)
        await self.api.say(
            MessageStatusChanged(
                ref=ref,
                previous=Status.QUEUED,
                status=status,
                changed_at=now,
                version=2,
                accepted_at=now,
                sealed=KeyRing.parse(SEAL_KEYS).seal(content.model_dump_json().encode(), aad=message_id.bytes),
            )
        )


async def customer(api: RunningApi) -> Client:
    account = await api.account()
    number = await api.number(tenantId=account.tenant_id, state=ConnectionState.CLOSE)
    key = await api.key(account.project_id, environment="LIVE", number_id=number["id"])
    return Client(api=api, account=account, number_id=number["id"], instance=number["instance"], key=key)


def digest(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


async def has_received(sink: Sink, wanted: int) -> bool:
    return len(sink.received) >= wanted
