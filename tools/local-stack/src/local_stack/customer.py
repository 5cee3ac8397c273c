"""A customer's own application: sends through the public API, receives webhooks on loopback and verifies each."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BODY_BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One POST as it came in; `verified` says that both signatures fit these very bytes."""

    webhook_id: str
    event: str
    message_id: str
    verified: bool
    endpoint: str
    body: bytes = field(repr=False)


class WebhookReceiver:
    """HTTP endpoints of the customer, one path each. `secrets` holds the signing secret by the path's last part."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.received: list[Received] = []
        self._refusals: dict[str, int] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The address below which endpoints are told apart by the path's last part."""
        return f"http://127.0.0.1:{self._server.server_port}/webhooks"

    @contextmanager
    def listening(self) -> Iterator["WebhookReceiver"]:
        """Serve in a thread until left."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join(timeout=5)
            self._server.server_close()

    def refuse(self, endpoint: str, *, times: int) -> None:
        """Answer the next POSTs to an endpoint with 500; they are noted all the same."""
        with self._lock:
            self._refusals[endpoint] = times

    def accept(self, path: str, headers: dict[str, str], body: bytes) -> int:
        """Note a POST and whether it is genuine; the status to answer with."""
        endpoint = path.rsplit("/", 1)[-1]
        secret = self.secrets.get(endpoint)
        payload: dict[str, Any] = json.loads(body)
        received = Received(
            webhook_id=headers.get("webhook-id", ""),
            event=str(payload.get("event", "")),
            message_id=str(payload.get("data", {}).get("id", "")),
            verified=secret is not None and genuine(secret, headers, body),
            endpoint=endpoint,
            body=body,
        )
        with self._lock:
            self.received.append(received)
            refusals = self._refusals.get(endpoint, 0)
            self._refusals[endpoint] = max(0, refusals - 1)
        return 500 if refusals else 204

    def snapshot(self) -> list[Received]:
        """Everything received so far, in order of arrival."""
        with self._lock:
            return list(self.received)


def genuine(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Both signatures, as documented: hex HMAC-SHA256 of the body, and Standard Webhooks."""
    plain = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{headers.get('webhook-timestamp', '')}.".encode() + body
    standard = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    offered = headers.get("webhook-signature", "").split(" ")
    return hmac.compare_digest(plain, headers.get("x-pilot-status-signature", "")) and standard in offered


def _handler(receiver: WebhookReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = min(int(self.headers.get("content-length", "0")), BODY_BYTES_MAX)
            body = self.rfile.read(length)
            status = receiver.accept(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Keep bodies and addresses out of the terminal."""

    return Handler
