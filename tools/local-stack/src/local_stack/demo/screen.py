"""What the demonstration shows: a live table of messages, and the addresses to explore."""

from collections import Counter

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from local_stack.demo.journey import STATUSES, Journey
from local_stack.environment import Service
from local_stack.system import System

COLOURS = {
    "QUEUED": "dim",
    "DISPATCHED": "yellow",
    "SENT": "cyan",
    "DELIVERED": "blue",
    "READ": "bold green",
    "FAILED": "bold red",
}
ROWS_MAX = 40


def progress(journey: Journey) -> Group:
    """The table of messages above one line of totals."""
    table = Table(title="Messages on their way", expand=False, pad_edge=False)
    for heading in ("message", "number", "template", "status", "verified webhooks"):
        table.add_column(heading, no_wrap=True)
    for parcel in journey.parcels[:ROWS_MAX]:
        status = Text(parcel.status, style=COLOURS.get(parcel.status, "white"))
        table.add_row(parcel.message_id[-12:], parcel.instance, parcel.template, status, " → ".join(parcel.webhooks))
    return Group(table, totals(journey))


def totals(journey: Journey) -> Text:
    """One line: how many messages are where."""
    counted = Counter(parcel.status for parcel in journey.parcels)
    line = Text(f"{len(journey.parcels)} accepted: ")
    for status in (*STATUSES, "FAILED"):
        if counted[status]:
            line.append(f"{counted[status]} {status}  ", style=COLOURS[status])
    line.append(f"· {sum(len(parcel.webhooks) for parcel in journey.parcels)} webhooks verified")
    return line


def addresses(system: System, api_key: str) -> Panel:
    """Where to look next; the key is of this run only."""
    rows = Table.grid(padding=(0, 2))
    rows.add_row("API documentation", f"{system.api_url}/docs")
    rows.add_row("send one yourself", f"POST {system.api_url}/v1/messages/send  x-api-key: {api_key}")
    rows.add_row("gateway simulator", f"{system.gateway_url}/simulator/ledger")
    for service in Service:
        rows.add_row(f"metrics of {service}", f"{system.ports.url(service)}/metrics")
    rows.add_row("logs", str(system.log_dir))
    return Panel(rows, title="Look around; Ctrl-C stops everything", expand=False)


def console() -> Console:
    """Standard output, wide enough for the table where it is not a terminal."""
    standard = Console()
    return standard if standard.is_terminal else Console(width=120)
