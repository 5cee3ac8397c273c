"""What every service stands on, assembled once: database, outbox relay, broker, web server, health, runner."""

from collections.abc import Callable, Sequence

from fastapi import FastAPI
from sqlalchemy import Table

from chassis.broker import Broker
from chassis.database import Database
from chassis.health import Health
from chassis.publisher import Publisher
from chassis.relay import OutboxRelay
from chassis.runner import Runner, Stage
from chassis.settings import ServiceSettings
from chassis.telemetry.logs import configure_logging
from chassis.telemetry.tracing import configure_tracing
from chassis.topology import Topology
from chassis.web import WebServer, create_app
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
    ) -> None:
        configure_logging(service, settings.log_level)
        configure_tracing(service, endpoint=settings.otlp_endpoint, sample_ratio=settings.trace_sample_ratio)
        database_url, broker_url = settings.database_url.get_secret_value(), settings.broker_url.get_secret_value()
        self.runner = Runner(service=service, stop_timeout_seconds=settings.shutdown_timeout_seconds)
        self.database = Database(database_url, outbox=outbox, pool_size=settings.pool_size, name=service)
        self.relay = OutboxRelay(
            self.database, outbox, Publisher(broker_url, source=service), database_url=database_url
        )
        self.broker = Broker(broker_url, service=service, topology=topology, decode=decode, on_fatal=self.runner.fail)
        self.health = Health()
        self.health.check("database", self.database.problem)
        self.app: FastAPI = create_app(service=service, health=self.health, title=title, raw_paths=raw_paths)
        self.web = WebServer(self.app, host=settings.http_host, port=settings.http_port)

    async def run(self, *stages: Stage) -> int:
        """Own stages start after the relay and before anything is heard or served, and stop after both."""
        return await self.runner.run([self.database, self.relay, *stages, self.broker, self.web, Draining(self.health)])


class Draining:
    """The last stage to start and so the first to stop: no new work is sent to a process that is about to end."""

    name = "draining"

    def __init__(self, health: Health) -> None:
        self._health = health

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Answer `/ready` with 503 from now on."""
        self._health.drain()
