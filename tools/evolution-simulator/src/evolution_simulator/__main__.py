"""Starts the simulator: python -m evolution_simulator."""

import signal
import sys
from types import FrameType

import uvicorn

from evolution_simulator.app import create_app
from evolution_simulator.connection import ExposedConnection
from evolution_simulator.listener import Listener
from evolution_simulator.settings import settings_from

STARTUP_FAILED = 3


def main() -> None:
    settings = settings_from(sys.argv[1:])
    signal.signal(signal.SIGTERM, _asked_to_stop)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=ExposedConnection,
        ws="none",
        access_log=False,
        server_header=False,
        log_level="info",
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )
    listener = Listener(config)
    app.state.listener = listener
    listener.run()
    if not listener.started:
        sys.exit(STARTUP_FAILED)


def _asked_to_stop(_number: int, _frame: FrameType | None) -> None:
    """uvicorn stops on SIGTERM by itself and raises the signal again afterwards: that is a clean end."""
    sys.exit(0)


if __name__ == "__main__":
    main()
