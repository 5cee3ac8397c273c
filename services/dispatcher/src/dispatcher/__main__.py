"""The dispatcher's command line: `python -m dispatcher [serve|migrate|draft|check|reseal|seals]`."""

import sys
from pathlib import Path

from chassis.command_line import Commands, main
from chassis.migrations import Migrations
from contracts.registry import DISPATCHER
from dispatcher.app import serve
from dispatcher.tables import SEALED, metadata

if __name__ == "__main__":
    migrations = Migrations(metadata=metadata, package=Path(__file__).parent)
    sys.exit(main(Commands(service=DISPATCHER, serve=serve, migrations=migrations, sealed=SEALED)))
