"""The api's command line: `python -m api [serve|migrate|draft|check|reseal|seals]`."""

import sys
from pathlib import Path

from api.access.tables import API_KEYS
from api.accounts.tables import TENANTS
from api.app import serve
from api.app.keeping import SEALED
from api.erasures.tables import ERASURES
from api.limits.tables import PLANS
from api.messages.tables import MESSAGES
from api.numbers.tables import NUMBERS
from api.optins.tables import OPT_INS
from api.profiles.tables import PROFILES
from api.tables import METADATA
from api.templates.tables import TEMPLATES
from chassis.command_line import Commands, main
from chassis.migrations import Migrations
from contracts.registry import API

RESOURCES = (TENANTS, PLANS, PROFILES, OPT_INS, NUMBERS, TEMPLATES, API_KEYS, MESSAGES, ERASURES)
"""Importing their tables is what fills the metadata."""


if __name__ == "__main__":
    migrations = Migrations(metadata=METADATA, package=Path(__file__).parent)
    sys.exit(main(Commands(service=API, serve=serve, migrations=migrations, sealed=SEALED)))
