"""Hands out a PostgreSQL and a RabbitMQ: found ones, or our own which end together with the block that asked."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Never

from local_stack.choice import steps
from local_stack.databases import create_database, drop_database, drop_roles
from local_stack.instances import Instance, create_instance
from local_stack.leftovers import clean_leftovers
from local_stack.postgres import PrivatePostgres
from local_stack.search import OwnRabbitMQ, Search
from local_stack.settings import BackingSettings, Mode
from local_stack.vhosts import Broker


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """A PostgreSQL where we may create databases and roles, and a RabbitMQ where we may create virtual hosts.

    `private_postgres` and `private_rabbitmq` are set when the server is our own and may be restarted or killed.
    """

    postgres_admin_url: str = field(repr=False)
    rabbitmq: Broker
    private_postgres: PrivatePostgres | None = None
    private_rabbitmq: OwnRabbitMQ | None = None
    instance: Instance = field(repr=False)

    def create_workspace(self, name: str) -> None:
        """A database and a virtual host of that name."""
        self.instance.remember_workspace(name)
        create_database(self.postgres_admin_url, name)
        self.rabbitmq.create_vhost(name)

    def drop_workspace(self, name: str) -> None:
        """Drop both, and the roles whose names start with `<name>_`; what is not there is fine.

        A server of our own that does not run at the moment takes its data along when it is closed.
        """
        with ExitStack() as each:
            if self.private_rabbitmq is None or self.private_rabbitmq.is_running():
                each.callback(self.rabbitmq.delete_vhost, name)
            if self.private_postgres is None or self.private_postgres.is_running():
                each.callback(drop_roles, self.postgres_admin_url, f"{name}_")
                each.callback(drop_database, self.postgres_admin_url, name)
        self.instance.forget_workspace(name)


def say_on_stderr(line: str) -> None:
    print(f"local-stack: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def open_backing(
    run_dir: Path,
    *,
    mode: Mode | None = None,
    private_postgres: bool = False,
    private_rabbitmq: bool = False,
    settings: BackingSettings | None = None,
    say: Callable[[str], None] = say_on_stderr,
) -> Iterator[Backing]:
    """Find or start both servers; what was started is stopped on leaving, also by an exception, SIGINT or SIGTERM."""
    known = settings or BackingSettings.read()
    forced = mode or known.mode
    run_dir = run_dir.resolve()
    with _sigterm_as_exit(), ExitStack() as stack:
        left = clean_leftovers(run_dir, say)
        instance = create_instance(run_dir, "run")
        stack.callback(instance.remove)
        search = Search(run_dir=run_dir, settings=known, stack=stack, say=say)
        postgres = search.postgres(
            steps(forced, address_given=known.postgres_url is not None, private_wanted=private_postgres)
        )
        rabbitmq = search.rabbitmq(
            steps(forced, address_given=known.rabbitmq_url is not None, private_wanted=private_rabbitmq)
        )
        backing = Backing(
            postgres_admin_url=postgres.admin_url if isinstance(postgres, PrivatePostgres) else postgres,
            rabbitmq=rabbitmq if isinstance(rabbitmq, Broker) else rabbitmq.broker,
            private_postgres=postgres if isinstance(postgres, PrivatePostgres) else None,
            private_rabbitmq=None if isinstance(rabbitmq, Broker) else rabbitmq,
            instance=instance,
        )
        for name in left:
            backing.drop_workspace(name)
        yield backing


@contextlib.contextmanager
def _sigterm_as_exit() -> Iterator[None]:
    """Turn SIGTERM into an ordinary exit, so that all is closed; left alone where somebody else handles it."""

    def leave(number: int, _: FrameType | None) -> Never:
        raise SystemExit(128 + number)

    try:
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
