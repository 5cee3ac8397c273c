"""Picks loopback ports below the range that outgoing connections take theirs from."""

import random
import socket
import threading

_LOWEST, _HIGHEST = 20_000, 32_000
_ATTEMPTS_MAX = 200

_handed_out: set[int] = set()
_lock = threading.Lock()


class NoFreePort(RuntimeError):
    """Raised when no port of the range could be bound."""


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nobody listens on and that this process has not handed out before."""
    dice = random.SystemRandom()
    with _lock:
        for _ in range(_ATTEMPTS_MAX):
            port = dice.randint(_LOWEST, _HIGHEST)
            if port not in _handed_out and _is_free(port):
                _handed_out.add(port)
                return port
    raise NoFreePort(f"no free port between {_LOWEST} and {_HIGHEST} after {_ATTEMPTS_MAX} attempts")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def answers(host: str, port: int, *, timeout_seconds: float = 1.0) -> bool:
    """Whether something accepts TCP connections there."""
    try:
        with socket.create_connection((host, port), timeout=timeout_seconds):
            return True
    except OSError:
        return False
