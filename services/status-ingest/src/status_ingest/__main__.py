"""The command line: `python -m status_ingest [serve|migrate|draft|check|reseal|seals|address INSTANCE…]`."""

import sys
from pathlib import Path

from chassis.command_line import Commands, main
from chassis.migrations import Migrations
from contracts.registry import STATUS_INGEST
from status_ingest.app import serve, tell_addresses
from status_ingest.tables import SEALED, metadata

if __name__ == "__main__":
    migrations = Migrations(metadata=metadata, package=Path(__file__).parent)
    commands = Commands(
        service=STATUS_INGEST,
        serve=serve,
        migrations=migrations,
        sealed=SEALED,
        further={"address": tell_addresses},
    )
    sys.exit(main(commands))
