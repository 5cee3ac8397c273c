"""Gives a test run its own corner of the broker."""

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol


class VirtualHosts(Protocol):
    """A broker on which virtual hosts may be created."""

    def url(self, vhost: str) -> str: ...

    def create_vhost(self, vhost: str) -> None: ...

    def delete_vhost(self, vhost: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualHost:
    """`pilot_test_<8 hex>`; `url` is how a service reaches it."""

    name: str
    url: str = field(repr=False)


@contextlib.contextmanager
def virtual_host(broker: VirtualHosts) -> Iterator[VirtualHost]:
    """Created now, deleted with all it holds on leaving."""
    name = f"pilot_test_{secrets.token_hex(4)}"
    broker.create_vhost(name)
    try:
        yield VirtualHost(name=name, url=broker.url(name))
    finally:
        broker.delete_vhost(name)
