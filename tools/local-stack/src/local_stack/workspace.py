"""Gives a run a database and a virtual host of its own and takes them away afterwards."""

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from local_stack.backing import Backing
from local_stack.databases import with_database, with_login


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A fresh database and a fresh virtual host, both called `name` (`pilot_<purpose>_<8 hex>`)."""

    backing: Backing
    name: str

    @property
    def database_admin_url(self) -> str:
        return with_database(self.backing.postgres_admin_url, self.name)

    @property
    def broker_url(self) -> str:
        return self.backing.rabbitmq.url(self.name)

    def role(self, schema: str) -> str:
        """The name of a service's role: dropping by the prefix `<name>_` removes all of them."""
        return f"{self.name}_{schema}"

    def database_url(self, schema: str, password: str) -> str:
        """How the service that owns `schema` reaches this database."""
        return with_login(self.database_admin_url, user=self.role(schema), password=password)


@contextlib.contextmanager
def open_workspace(backing: Backing, purpose: str = "run") -> Iterator[Workspace]:
    """Create both, and drop both and the roles with their prefix on leaving, whatever happened in between."""
    workspace = Workspace(backing=backing, name=f"pilot_{purpose}_{secrets.token_hex(4)}")
    try:
        backing.create_workspace(workspace.name)
        yield workspace
    finally:
        backing.drop_workspace(workspace.name)
