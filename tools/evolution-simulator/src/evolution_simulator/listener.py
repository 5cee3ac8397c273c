"""The listening socket, which can be closed for a while: what a client meets while the gateway is down."""

import asyncio

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from evolution_simulator.connection import reset_transport

RETRY_SECONDS = 0.1


class Listener(uvicorn.Server):
    """uvicorn's server, with a door that closes and opens again on the same port."""

    _reopening: asyncio.Task[None] | None = None

    def close_for(self, seconds: float) -> None:
        """Refuse new connections for so long; those that are open stay."""
        ports = [door.getsockname()[1] for server in self.servers for door in server.sockets]
        port = ports[0] if ports else self.config.port
        for server in self.servers:
            server.close()
        if self._reopening is not None:
            self._reopening.cancel()
        self._reopening = asyncio.create_task(self._reopen(port, seconds), name="listener")

    def drop_connections(self, *, spared: asyncio.Transport) -> None:
        """Cut every connection but one, and end what is being done for it, as the death of the process would."""
        for task in [task for task in self.server_state.tasks if task is not asyncio.current_task()]:
            task.cancel()
        for connection in list(self.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None and transport is not spared:
                reset_transport(transport)

    async def _reopen(self, port: int, seconds: float) -> None:
        await asyncio.sleep(seconds)
        loop = asyncio.get_running_loop()
        while not self.should_exit:
            try:
                self.servers = [await loop.create_server(self._protocol, host=self.config.host, port=port)]
            except OSError:  # somebody else has the port for the moment
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    def _protocol(self) -> asyncio.Protocol:
        kind: type[HttpToolsProtocol] = self.config.http_protocol_class  # type: ignore[assignment]
        return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
