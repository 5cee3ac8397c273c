"""The command line every service has: `serve` (default), `migrate`, `draft` (a new migration), `check`, its own."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import uvloop

from chassis.migration_settings import MigrationSettings
from chassis.migrations import Migrations
from chassis.provisioning import provision
from chassis.settings import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """What a service gives its command line."""

    service: str
    serve: Callable[[], Awaitable[int]]
    migrations: Migrations
    further: Mapping[str, Callable[[Sequence[str]], Awaitable[int]]] = field(default_factory=dict)
    """Commands of one service only, by name; they are given the rest of the command line."""

    async def migrate(self) -> int:
        """Create role and schema if an administrator's address is given, then migrate as the service's own role."""
        url, admin_url = MigrationSettings.load().addresses()
        if admin_url:
            await provision(admin_url, database_url=url, schema=self.migrations.schema)
        await self.migrations.upgrade(url)
        return 0

    async def draft(self) -> int:
        """Print what a new migration would have to do."""
        sys.stdout.write(await self.migrations.draft(MigrationSettings.load().addresses()[0]) + "\n")
        return 0

    async def check(self) -> int:
        """1 if the migrated schema and the tables disagree."""
        found = await self.migrations.differences(MigrationSettings.load().addresses()[0])
        sys.stdout.writelines(f"{difference}\n" for difference in found)
        return 1 if found else 0


def main(commands: Commands) -> int:
    """Parse `sys.argv` and run."""
    work = {"serve": commands.serve, "migrate": commands.migrate, "draft": commands.draft, "check": commands.check}
    parser = argparse.ArgumentParser(prog=commands.service)
    parser.add_argument("command", nargs="?", default="serve", choices=(*work, *commands.further))
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.command in commands.further:
        work[given.command] = partial(commands.further[given.command], given.arguments)
    elif given.arguments:
        parser.error(f"{given.command} takes no arguments")
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_awaited(work[given.command]))
    except SettingsError as error:
        sys.stderr.write(f"{commands.service}: {error}\n")
        return 2


async def _awaited(work: Callable[[], Awaitable[int]]) -> int:
    return await work()
