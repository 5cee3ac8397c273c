"""The reference of accepting: FastAPI with a route that does one durable INSERT and nothing else, for two bodies.

`python -m tests.bench.bare_route DATABASE_URL PORT`, on the same server, loop and settings as a service.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

import asyncpg
from fastapi import FastAPI, Request
from pydantic import BaseModel
from tests.bench.running import run

from chassis.web import WebServer

TABLE = """
CREATE TABLE IF NOT EXISTS bare (
    id uuid PRIMARY KEY, destination_number text NOT NULL, body text NOT NULL,
    accepted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE IF NOT EXISTS bare_events (
    id uuid PRIMARY KEY, body bytea NOT NULL, received_at timestamptz NOT NULL DEFAULT clock_timestamp()
)
"""
INSERT = "INSERT INTO bare (id, destination_number, body) VALUES ($1, $2, $3)"
INSERT_EVENT = "INSERT INTO bare_events (id, body) VALUES ($1, $2)"
POOL_SIZE = 10
"""As many connections as a service has."""


class Wanted(BaseModel):
    """The same body that the api takes."""

    destinationNumber: str
    text: str


def bare_app(pool: "asyncpg.Pool[Any]") -> FastAPI:
    """The whole application."""
    app = FastAPI()

    @app.get("/ready")
    async def ready() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/messages", status_code=202)
    async def accept(wanted: Wanted) -> dict[str, str]:
        message_id = uuid4()
        await pool.execute(INSERT, message_id, wanted.destinationNumber, wanted.text)
        return {"id": str(message_id), "status": "QUEUED"}

    @app.post("/events")
    async def keep(request: Request) -> dict[str, bool]:
        await pool.execute(INSERT_EVENT, uuid4(), await request.body())
        return {"ok": True}

    return app


async def serve(database_url: str, port: str) -> None:
    """Until killed."""
    async with asyncpg.create_pool(database_url, min_size=POOL_SIZE, max_size=POOL_SIZE) as pool:
        server = WebServer(bare_app(pool), host="127.0.0.1", port=int(port))
        await server.start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    run(serve(*sys.argv[1:]))
