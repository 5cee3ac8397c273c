"""A dispatcher as its own process beside a real broker and the gateway simulator, for tests that end it rudely."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from fastapi import FastAPI, Request, Response

from chassis.amqp import connect
from chassis.confirms import Outcome
from chassis.publish_frames import Outgoing
from chassis.publisher import Publisher
from chassis.topology import declare_queue
from chassis.web import WebServer
from contracts.facts import EchoObserved, NumberConfigured
from contracts.ids import uuid7
from contracts.statement import Statement
from contracts.topology import DEAD, lane_queue
from contracts.values import GatewayAccess, PacingPolicy
from gateways.evolution import translate
from gateways.port import Echo

from .rig import FAST, NUMBER_ID
from .sealing import KEYS, hash_of, hash_of_text

SEAL_KEYS = "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
SEAL_PEPPER = "cGVwcGVyLXBlcHBlci1wZXBwZXItcGVwcGVyLXBlcHBlcg=="
API_KEY = "a-key-for-the-simulator"


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass(slots=True)
class Program:
    """One process of ours, with its log in a file."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    ready_url: str
    log: Path
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, *self.arguments, env={**inherited, **self.environment}, stdout=log, stderr=log
            )

    async def wait_ready(self, timeout_seconds: float = 30) -> None:
        async with asyncio.timeout(timeout_seconds), httpx.AsyncClient(trust_env=False) as client:
            while True:
                try:
                    if (await client.get(self.ready_url)).status_code == 200:
                        return
                except httpx.TransportError:
                    pass
                assert self.process is not None
                assert self.process.returncode is None, self.log.read_text()[-2_000:]
                await asyncio.sleep(0.05)

    async def signal(self, number: signal.Signals, timeout_seconds: float = 30) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)
        async with asyncio.timeout(timeout_seconds):
            return await self.process.wait()


@dataclass(slots=True)
class World:
    """Broker, simulator, and what status-ingest would do with the simulator's webhooks."""

    broker_url: str
    simulator: Program
    simulator_url: str
    dispatcher: Program
    publisher: Publisher
    server: WebServer | None = None
    replicas: list[Program] = field(default_factory=list)
    echoes_heard: int = 0
    echoing: set[asyncio.Task[None]] = field(default_factory=set)

    async def listen(self) -> None:
        """Take the gateway's webhooks."""
        self.server = webhook_server(self.arrived)
        await self.server.start()

    def arrived(self, payload: object) -> None:
        """A webhook came; the gateway does not wait for what becomes of it."""
        task = asyncio.create_task(self.hear(payload))
        self.echoing.add(task)
        task.add_done_callback(self.echoing.discard)

    async def close(self) -> None:
        """End what we started."""
        if self.server is not None:
            await self.server.stop()
        await asyncio.gather(*self.echoing, return_exceptions=True)
        await self.publisher.close()
        for program in (*self.replicas, self.dispatcher, self.simulator):
            if program.process is not None:
                await program.signal(signal.SIGKILL)

    def replica(self) -> Program:
        """One more dispatcher on the same database and broker, not started yet; it ends with the world."""
        port, name = free_port(), f"dispatcher-{len(self.replicas) + 2}.log"
        environment = {**self.dispatcher.environment, "HTTP_PORT": str(port)}
        ready = f"http://127.0.0.1:{port}/ready"
        self.replicas.append(
            Program(self.dispatcher.arguments, environment, ready, self.dispatcher.log.with_name(name))
        )
        return self.replicas[-1]

    async def say(self, *statements: Statement) -> None:
        """Publish, and insist until every queue has it."""
        left = [outgoing(statement) for statement in statements]
        async with asyncio.timeout(30):
            while left:
                outcomes = await self.publisher.publish(left)
                left = [one for one, outcome in zip(left, outcomes, strict=True) if outcome is not Outcome.CONFIRMED]
                if left:
                    await asyncio.sleep(0.1)
                    await self.publisher.ensure_open()

    async def number(self, instance: str, *, pacing: PacingPolicy = FAST) -> None:
        """Create an instance at the gateway, declare its lane as the api does, and tell the dispatcher about it."""
        await self.instances(instance)
        await self.say(self.configured(instance, pacing=pacing))

    async def instances(self, *names: str) -> None:
        """Numbers at the gateway that tell us of what they send, each with its queue."""
        assert self.server is not None
        webhook = {"enabled": True, "url": f"http://127.0.0.1:{self.server.port}/", "events": ["SEND_MESSAGE"]}
        async with httpx.AsyncClient(base_url=self.simulator_url, headers={"apikey": API_KEY}, trust_env=False) as http:
            for name in names:
                body = {"instanceName": name, "integration": "WHATSAPP-BAILEYS"}
                assert (await http.post("/instance/create", json=body)).status_code == 201
                assert (await http.post(f"/webhook/set/{name}", json={"webhook": webhook})).status_code == 201
        connection = await connect(self.broker_url, name="test")
        channel = await connection.channel()
        for name in names:
            await declare_queue(channel, lane_queue(name), dead_exchange=DEAD)
        await connection.close()

    def configured(self, instance: str, *, pacing: PacingPolicy = FAST) -> NumberConfigured:
        """What the api says of a number at our gateway."""
        access = GatewayAccess(base_url=self.simulator_url, api_key=API_KEY).model_dump_json().encode()
        return NumberConfigured(
            number_id=NUMBER_ID,
            instance=instance,
            pacing=pacing,
            sealed_access=KEYS.seal(access, aad=NUMBER_ID.bytes),
            version=1,
            configured_at=datetime.now(UTC),
        )

    async def ledger(self) -> list[dict[str, Any]]:
        """Every send the gateway accepted."""
        async with httpx.AsyncClient(base_url=self.simulator_url, trust_env=False) as http:
            return list((await http.get("/simulator/ledger")).json())

    async def script(self, script: Mapping[str, Any]) -> None:
        """Tell the gateway how to behave."""
        async with httpx.AsyncClient(base_url=self.simulator_url, trust_env=False) as http:
            response = await http.put("/simulator/script", json=script)
            assert response.status_code == 200, response.text

    async def hear(self, payload: object) -> None:
        """Say what status-ingest would say."""
        for seen in translate(payload):
            if isinstance(seen, Echo) and seen.recipient and seen.text:
                self.echoes_heard += 1
                await self.say(
                    EchoObserved(
                        instance=seen.instance,
                        key_id=seen.key_id,
                        recipient_hash=hash_of(seen.recipient),
                        text_hash=hash_of_text(seen.text),
                        observed_at=datetime.now(UTC),
                    )
                )


@asynccontextmanager
async def open_world(
    database_url: str, broker_url: str, folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[World]:
    """Everything running and ended at the end; logs and the gateway's ledger are in the folder."""
    simulator_port, http_port = free_port(), free_port()
    place = ["--port", str(simulator_port), "--api-key", API_KEY, "--ledger", str(folder / "ledger.jsonl")]
    settings = {
        "DATABASE_URL": database_url,
        "BROKER_URL": broker_url,
        "HTTP_PORT": str(http_port),
        "SEAL_KEYS": SEAL_KEYS,
        "SEAL_PEPPER": SEAL_PEPPER,
        "POOL_SIZE": "6",
        "LEASE_SECONDS": "2",
        "ABSENCE_BELIEVED_AFTER_SECONDS": "2",
        "RESOLVE_WITHIN_SECONDS": "60",
        **environment,
    }
    address, ready = f"http://127.0.0.1:{simulator_port}", f"http://127.0.0.1:{http_port}/ready"
    world = World(
        broker_url=broker_url,
        simulator=Program(["-m", "evolution_simulator", *place], {}, f"{address}/", folder / "simulator.log"),
        simulator_url=address,
        dispatcher=Program(["-m", "dispatcher"], settings, ready, folder / "dispatcher.log"),
        publisher=Publisher(broker_url, source="test"),
    )
    try:
        await world.listen()
        await world.simulator.start()
        await world.dispatcher.start()
        await asyncio.gather(world.simulator.wait_ready(60), world.dispatcher.wait_ready(60))
        await world.publisher.ensure_open()
        yield world
    finally:
        await world.close()


def outgoing(statement: Statement) -> Outgoing:
    """As the outbox relay would publish it."""
    return Outgoing(
        statement_id=uuid7(),
        exchange=statement.EXCHANGE,
        routing_key=statement.routing_key(),
        type=statement.TYPE,
        body=statement.body(),
        traceparent=None,
        said_at=datetime.now(UTC),
    )


def webhook_server(heard: Callable[[object], None]) -> WebServer:
    """A server that reads what is posted to it and says 200."""
    app = FastAPI()

    @app.post("/")
    async def receive(request: Request) -> Response:
        heard(json.loads(await request.body()))
        return Response()

    return WebServer(app, host="127.0.0.1", port=0)
