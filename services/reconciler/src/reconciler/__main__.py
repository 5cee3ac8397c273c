"""The command line of the reconciler: `python -m reconciler [serve|migrate|draft|check|reseal|seals]`."""

import sys
from pathlib import Path

from chassis.command_line import Commands, main
from chassis.migrations import Migrations
from contracts.registry import RECONCILER
from reconciler.app import serve
from reconciler.tables import SEALED, metadata

if __name__ == "__main__":
    migrations = Migrations(metadata=metadata, package=Path(__file__).parent)
    sys.exit(main(Commands(service=RECONCILER, serve=serve, migrations=migrations, sealed=SEALED)))
