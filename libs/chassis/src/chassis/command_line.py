"""The command line every service has: serving, migrations (`migrate`, `draft`, `check`), its seals' keys, its own."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import uvloop

from chassis.database import Database
from chassis.migration_settings import MigrationSettings
from chassis.migrations import Migrations
from chassis.provisioning import provision
from chassis.resealing import Resealing, report
from chassis.sealed_columns import SealedColumn
from chassis.settings import ServiceSettings, SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """What a service gives its command line."""

    service: str
    serve: Callable[[], Awaitable[int]]
    migrations: Migrations
    further: Mapping[str, Callable[[Sequence[str]], Awaitable[int]]] = field(default_factory=dict)
    """Commands of one service only, by name; they are given the rest of the command line."""
    sealed: Sequence[SealedColumn] = ()

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

    async def reseal(self) -> int:
        """Seal everything anew that is not under the active key, and say what is where; 1 if anything is left."""
        return await self._seals(only_counts=False)

    async def seals(self) -> int:
        """Say how many rows are under which key, and change nothing; 1 if any is not under the active one."""
        return await self._seals(only_counts=True)

    async def _seals(self, *, only_counts: bool) -> int:
        settings = ServiceSettings.load()
        ring = settings.key_ring()
        database = Database(settings.database_url.get_secret_value(), pool_size=1, name=f"{self.service}-reseal")
        try:
            resealing = Resealing(database=database, ring=ring, columns=self.sealed, only_counts=only_counts)
            census = await resealing.whole_pass()
        finally:
            await database.stop()
        sys.stdout.write(report(census, ring))
        return 1 if {key_id for _, key_id in census} - {ring.active_key_id} else 0


def main(commands: Commands) -> int:
    """Parse `sys.argv` and run."""
    work = {
        "serve": commands.serve,
        "migrate": commands.migrate,
        "draft": commands.draft,
        "check": commands.check,
        "reseal": commands.reseal,
        "seals": commands.seals,
    }
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
