"""A platform that answers what a test tells it to and remembers what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

NOT_FOUND = {"error": "There is nothing at this address.", "code": "ROUTE_NOT_FOUND", "requestId": "r-404"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    route: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


@dataclass(slots=True)
class Platform:
    """`answers` has (status, body) by `METHOD path`; a list of them is taken one by one, the last repeating."""

    url: str
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def answer(self, route: str) -> tuple[int, Any]:
        """What the route says this time."""
        known = self.answers.get(route, (404, NOT_FOUND))
        if isinstance(known, list):
            return tuple(known.pop(0) if len(known) > 1 else known[0])
        return tuple(known)

    def routes(self) -> list[str]:
        """What was asked, in order."""
        return [one.route for one in self.asked]


@contextmanager
def scripted() -> Iterator[Platform]:
    """Serve in a thread until left."""
    platform = Platform("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(platform))
    server.daemon_threads = True
    platform.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        thread.join(timeout=5)
        server.server_close()


def _handler(platform: Platform) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            raw = self.rfile.read(length)
            parts = urlsplit(self.path)
            asked = Asked(
                route=f"{self.command} {parts.path}",
                query=dict(parse_qsl(parts.query)),
                body=json.loads(raw) if raw else None,
                headers={name.lower(): value for name, value in self.headers.items()},
            )
            platform.asked.append(asked)
            status, body = platform.answer(asked.route)
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *args: object) -> None:
            """Keep the terminal quiet."""

    return Handler
