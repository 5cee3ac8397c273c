"""Starts the notifier, or works on its schema: `python -m notifier [serve|migrate|draft|check|reseal|seals]`."""

import sys
from pathlib import Path

from chassis.command_line import Commands, main
from chassis.migrations import Migrations
from contracts.registry import NOTIFIER
from notifier.app import serve
from notifier.tables import SEALED, metadata

if __name__ == "__main__":
    migrations = Migrations(metadata=metadata, package=Path(__file__).parent)
    sys.exit(main(Commands(service=NOTIFIER, serve=serve, migrations=migrations, sealed=SEALED)))
