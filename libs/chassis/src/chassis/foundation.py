"""What every service stands on, assembled once: database, outbox relay, broker, web server, health, runner."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from fastapi import FastAPI
from sqlalchemy import Table

from chassis.broker import Broker
from chassis.database import Database
from chassis.health import Health
from chassis.publisher import Publisher
from chassis.relay import OutboxRelay
from chassis.resealing import resealing_loop
from chassis.runner import Runner, Stage
from chassis.sealed_columns import SealedColumn
from chassis.settings import ServiceSettings
from chassis.telemetry.logs import configure_logging
from chassis.telemetry.tracing import configure_tracing
from chassis.topology import Topology
from chassis.web import WebServer, create_app
from contracts.log_fields import LOG_FIELDS
from contracts.statement import Statement


class Foundation:
    """One process of one service. Register handlers and routes on it, then `run` it with the service's own stages."""

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        service: str,
        outbox: Table,
        topology: Topology,
        decode: Callable[[str, bytes], Statement],
        title: str,
        raw_paths: Sequence[str] = (),
        sealed: Sequence[SealedColumn] = (),
    ) -> None:
        configure_logging(service, settings.log_level, fields=LOG_FIELDS)
        self._tracing = configure_tracing(
            service, endpoint=settings.otlp_endpoint, sample_ratio=settings.trace_sample_ratio
        )
        database_url, broker_url = settings.database_url.get_secret_value(), settings.broker_url.get_secret_value()
        self.runner = Runner(stop_timeout_seconds=settings.shutdown_timeout_seconds)
        self.database = Database(database_url, outbox=outbox, pool_size=settings.pool_size, name=service)
        self.relay = OutboxRelay(
            self.database, outbox, Publisher(broker_url, source=service), database_url=database_url
        )
        self.broker = Broker(broker_url, service=service, topology=topology, decode=decode, on_fatal=self.runner.fail)
        self.health = Health()
        self.health.check("database", self.database.problem)
        self.app: FastAPI = create_app(service=service, health=self.health, title=title, raw_paths=raw_paths)
        self.web = WebServer(self.app, host=settings.http_host, port=settings.http_port)
        self._tidying = [resealing_loop(self.database, settings.key_ring(), sealed)] if sealed else []

    async def run(self, *stages: Stage) -> int:
        """Own stages start after the relay and before anything is heard or served, and stop after both."""
        spans = AtStop("spans", partial(asyncio.to_thread, self._tracing.stop))
        draining = AtStop("draining", self._drain)
        return await self.runner.run(
            [spans, self.database, self.relay, *self._tidying, *stages, self.broker, self.web, draining]
        )

    async def _drain(self) -> None:
        self.health.drain()


@dataclass(frozen=True, slots=True)
class AtStop:
    """A stage that only has an end."""

    name: str
    action: Callable[[], Awaitable[None]]

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Do what is to be done at the end."""
        await self.action()
