"""`pilot watch`: messages until they have arrived, live on a terminal and a line per change elsewhere."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from pilot_cli.client import Client
from pilot_cli.commands.nouns import columns
from pilot_cli.desk import AsJson, Desk, desk_of
from pilot_cli.failures import Exit, Failure, worst
from pilot_cli.screen import table_of

ORDER = ("QUEUED", "DISPATCHED", "SENT", "DELIVERED", "READ")
ENDED = ("READ", "FAILED", "CANCELED")
WATCHED_MAX = 100
PATIENCE_SECONDS = 3_600.0
COLUMNS = columns(id="id", status="status", since="since", waits_for="waits", error="errorCode")
SINCE = {
    "QUEUED": "createdAt",
    "DISPATCHED": "dispatchedAt",
    "SENT": "sentAt",
    "DELIVERED": "deliveredAt",
    "READ": "readAt",
    "FAILED": "failedAt",
    "CANCELED": "canceledAt",
}

Ids = Annotated[list[str], typer.Argument(help="Ids, correlation ids or provider ids.")]
AsCustomer = Annotated[bool, typer.Option("--as-customer", help="Use the API key although there is an operator key.")]
Until = Annotated[str, typer.Option("--until", help="Stop at this status: DISPATCHED, SENT, DELIVERED or READ.")]
For = Annotated[float, typer.Option("--for", min=0, help="Give up after so many seconds.")]
Every = Annotated[float, typer.Option("--every", min=0.1, max=60, help="Ask every so many seconds.")]


def add_to(root: typer.Typer) -> None:
    """The verb itself."""
    root.command("watch", rich_help_panel="Messages")(watch)


def watch(
    context: typer.Context,
    ids: Ids,
    until: Until = "READ",
    seconds: For = PATIENCE_SECONDS,
    every: Every = 1.0,
    as_customer: AsCustomer = False,
    as_json: AsJson = False,
) -> None:
    """Watch messages until all are READ (or --until), FAILED or CANCELED.

    On a terminal a live table; elsewhere a line per change; with --json an object per change. Exit code 1 if one of
    them failed, was canceled or is not there in time.
    """
    desk = desk_of(context, as_json=as_json)
    if until not in ORDER[1:]:
        raise Failure(Exit.USAGE, f"--until must be one of {', '.join(ORDER[1:])}.")
    if len(ids) > WATCHED_MAX:
        raise Failure(Exit.USAGE, f"At most {WATCHED_MAX} at a time.")
    follow(desk, ids, until=until, seconds=seconds, every=every, as_customer=as_customer)


@dataclass(slots=True, kw_only=True)
class Watched:
    """What was last seen of each message."""

    desk: Desk
    client: Client
    until: str
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    exits: dict[str, Exit] = field(default_factory=dict)

    def look(self, ids: Sequence[str]) -> None:
        """Ask about those that have not ended; a platform that is away is asked again later."""
        for name in ids:
            if name in self.exits:
                continue
            try:
                self._see(name, self.client.get("messages", name))
            except Failure as failure:
                if failure.exit_code is not Exit.UNAVAILABLE:
                    raise
                self.rows.setdefault(name, {"id": name})["waits"] = "the platform does not answer"

    def _see(self, name: str, message: dict[str, Any]) -> None:
        status = message["status"]
        waits = self._waits(name) if status in ("QUEUED", "DISPATCHED", "SENT") else None
        row = {**message, "since": message.get(SINCE.get(status, "")), "waits": waits}
        self.rows[name] = row
        if status in ENDED or _has_come(status, self.until):
            self.exits[name] = Exit.OK if _has_come(status, self.until) else Exit.FAILED
        seen = (message["version"], status, waits)
        if self.told.get(name) != seen:
            self._tell(message, row, is_new=self.told.get(name, (None,))[0] != message["version"])
            self.told[name] = seen

    def _waits(self, name: str) -> str | None:
        waiting = self.client.get("messages", name, "timeline").get("waitingFor")
        return waiting["sentence"] if waiting else None

    def _tell(self, message: dict[str, Any], row: dict[str, Any], *, is_new: bool) -> None:
        screen = self.desk.screen
        if screen.as_json:
            if is_new:
                screen.json(message, compact=True)
        elif not screen.is_live:
            words = [row.get("since"), message["id"], message["status"], row["waits"], message.get("errorCode")]
            screen.line("  ".join(str(word) for word in words if word))


def follow(
    desk: Desk,
    ids: Sequence[str],
    *,
    until: str = "READ",
    seconds: float = PATIENCE_SECONDS,
    every: float = 1.0,
    as_customer: bool = False,
) -> None:
    """Raises `Failure` unless all get there."""
    is_operator = desk.is_operator(as_customer=as_customer)
    client = desk.operator() if is_operator else desk.customer()
    watched = Watched(desk=desk, client=client, until=until)
    deadline = time.monotonic() + seconds
    if desk.screen.is_live:
        with desk.screen.live() as live:
            _until_ended(watched, ids, deadline, every, lambda: live.update(table_of(watched.rows.values(), COLUMNS)))
    else:
        _until_ended(watched, ids, deadline, every, lambda: None)
    late = [name for name in ids if name not in watched.exits]
    if late:
        raise Failure(Exit.FAILED, f"Not there within {seconds:g} s: {', '.join(late)}. `pilot explain` says why.")
    if worst(list(watched.exits.values())) is not Exit.OK:
        ended = [f"{name} is {watched.rows[name]['status']}" for name, exit in watched.exits.items() if exit]
        raise Failure(Exit.FAILED, "; ".join(ended) + ". `pilot explain` says why.")


def _until_ended(watched: Watched, ids: Sequence[str], deadline: float, every: float, draw: Any) -> None:
    while True:
        watched.look(ids)
        draw()
        left = deadline - time.monotonic()
        if all(name in watched.exits for name in ids) or left <= 0:
            return
        time.sleep(min(every, left))


def _has_come(status: str, until: str) -> bool:
    return status in ORDER and ORDER.index(status) >= ORDER.index(until)
