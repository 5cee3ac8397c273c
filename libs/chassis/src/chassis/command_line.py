"""The command line every service has: `serve` (default), `migrate`, `draft` (a new migration) and `check`."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

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
    parser = argparse.ArgumentParser(prog=commands.service)
    parser.add_argument("command", nargs="?", default="serve", choices=("serve", "migrate", "draft", "check"))
    chosen = parser.parse_args().command
    work = {"serve": commands.serve, "migrate": commands.migrate, "draft": commands.draft, "check": commands.check}
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_awaited(work[chosen]))
    except SettingsError as error:
        sys.stderr.write(f"{commands.service}: {error}\n")
        return 2


async def _awaited(work: Callable[[], Awaitable[int]]) -> int:
    return await work()
