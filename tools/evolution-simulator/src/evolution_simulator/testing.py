"""For test suites: the simulator as a process of its own, and a receiver that keeps the webhooks it is sent."""

import asyncio
import json
import random
import signal
import socket
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

_READY_SECONDS_MAX = 15.0
_STOP_SECONDS_MAX = 5.0
_POLL_SECONDS = 0.02


def free_port() -> int:
    """A free loopback port below the ephemeral range, so that no outgoing connection takes it meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311 - not a secret
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


async def until(condition: Callable[[], Awaitable[bool]], *, seconds: float = 10.0) -> None:
    """Ask again and again until the condition holds; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(_POLL_SECONDS)


class SimulatorProcess:
    """A simulator under its own process id: it can be killed and started again on the same ledger and port."""

    def __init__(
        self,
        ledger: Path,
        *,
        instances: Sequence[str] = (),
        webhook: str | None = None,
        api_key: str = "simulator-key",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.api_key = api_key
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.AsyncClient(base_url=self.url, headers={"apikey": api_key}, trust_env=False, timeout=10)
        self._arguments = ["--ledger", str(ledger), "--port", str(self.port), "--api-key", api_key]
        self._arguments += [part for instance in instances for part in ("--instance", instance)]
        self._arguments += ["--webhook", webhook] if webhook else []
        self._arguments += ["--settings", json.dumps(dict(settings or {}))]
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        await self.client.aclose()

    async def start(self) -> None:
        """Return once it answers; raises TimeoutError if it does not."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "evolution_simulator", *self._arguments, stderr=asyncio.subprocess.DEVNULL
        )
        await until(self._answers, seconds=_READY_SECONDS_MAX)

    async def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        await self._end(signal.SIGKILL)

    async def put_script(self, **script: Any) -> None:
        (await self.client.put("/simulator/script", json=script)).raise_for_status()

    async def put_fault(self, instance: str, fault: str | None, *, seconds: float | None = None) -> None:
        """`not_loaded`, `never_connected`, `zombie` or nothing, for ever or for so long."""
        await self._control(f"instances/{instance}/fault", fault=fault, seconds=seconds)

    async def restrict(self, instance: str, *, restricted: bool = True) -> None:
        """First contacts end in ERROR."""
        await self._control(f"instances/{instance}/restriction", restricted=restricted)

    async def cut_next(self, connections: int) -> None:
        """The next connections are cut before their requests are read."""
        await self._control("connections", cut_next=connections)

    async def close_door(self, seconds: float) -> None:
        """New connections are refused for so long."""
        await self._control("listener", closed_seconds=seconds)

    async def lose_memory(
        self, *, down_seconds: float = 0.0, loading_seconds: float = 0.0, forget_messages: bool = False
    ) -> None:
        """As if the process had died and come back, but for its scripts."""
        wanted = {"down_seconds": down_seconds, "loading_seconds": loading_seconds, "forget_messages": forget_messages}
        await self._control("restart", **wanted)

    async def _control(self, path: str, **wanted: Any) -> None:
        (await self.client.post(f"/simulator/{path}", json=wanted)).raise_for_status()

    async def ledger(self, **query: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.client.get("/simulator/ledger", params=query)).json()
        return rows

    async def settled(self, seconds: float = 10.0) -> None:
        """Return once no webhook and no receipt is to come any more; raises TimeoutError."""
        await until(self._nothing_pending, seconds=seconds)

    async def _nothing_pending(self) -> bool:
        counts: dict[str, int] = (await self.client.get("/simulator/webhooks/pending")).json()
        return counts["pending"] == 0

    async def _answers(self) -> bool:
        if self._process is not None and self._process.returncode is not None:
            raise ChildProcessError(f"the simulator ended with {self._process.returncode}")
        with suppress(httpx.TransportError):
            return (await self.client.get("/")).is_success
        return False

    async def _end(self, number: signal.Signals) -> int:
        process = self._process
        if process is None:
            return 0
        with suppress(ProcessLookupError):
            process.send_signal(number)
        async with asyncio.timeout(_STOP_SECONDS_MAX):
            return await process.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One webhook call as it came in; `at` is the loop's monotonic time in seconds."""

    path: str
    headers: Mapping[str, str]
    body: Any
    at: float


class WebhookReceiver:
    """A real HTTP server for webhooks; it answers with the queued statuses, then with 200."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: deque[int] = deque()
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server
        self._connections: set[asyncio.Task[Any]] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/hook"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def wait_for(
        self, count: int, of: Callable[[Received], bool] = lambda _: True, seconds: float = 10.0
    ) -> list[Received]:
        """The calls that match, once there are at least `count`; raises TimeoutError."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: sum(map(of, self.received)) >= count)
            return [call for call in self.received if of(call)]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                await self._answer(reader, writer)
        self._connections.discard(task)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        content = await reader.readexactly(int(headers["content-length"]))
        at = asyncio.get_running_loop().time()
        call = Received(path=request.split(" ")[1], headers=headers, body=json.loads(content), at=at)
        status = self.answers.popleft() if self.answers else 200
        writer.write(f"HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n".encode())
        await writer.drain()
        async with self._arrived:
            self.received.append(call)
            self._arrived.notify_all()
