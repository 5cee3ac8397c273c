"""The numbers this gateway knows, with tokens and webhooks, kept in a file as Evolution keeps them in its database."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from evolution_simulator import ids


class State(StrEnum):
    OPEN = "open"
    CONNECTING = "connecting"
    CLOSE = "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where an instance posts its events; an empty `events` means all of them."""

    url: str
    enabled: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    by_events: bool = False
    base64: bool = False
    created_at: str
    updated_at: str

    def wants(self, event: str) -> bool:
        subscription = event.replace(".", "_").replace("-", "_").upper()
        reachable = self.url.startswith(("http://", "https://"))
        return self.enabled and reachable and (not self.events or subscription in self.events)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    name: str
    token: str
    number: str
    integration: str = "WHATSAPP-BAILEYS"
    state: State = State.OPEN
    paired: bool = True
    """Whether a phone has scanned its code; without that it stays connecting until its state is set to open."""
    webhook: Webhook | None = None
    created_at: str

    @property
    def id(self) -> str:
        return ids.instance_id(self.name)

    @property
    def owner_jid(self) -> str:
        return f"{self.number}@s.whatsapp.net"


def iso_now() -> str:
    """Now in ISO 8601 with milliseconds and Z, as JavaScript prints it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Registry:
    """All instances by name; every change is written to the file before it is answered."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_name: dict[str, Instance] = {}
        if path.exists():
            for row in json.loads(path.read_text()):
                self._by_name[row["name"]] = _from_row(row)

    def all(self) -> Sequence[Instance]:
        return tuple(self._by_name.values())

    def get(self, name: str) -> Instance | None:
        return self._by_name.get(name)

    def put(self, instance: Instance) -> Instance:
        self._by_name[instance.name] = instance
        self._save()
        return instance

    def remove(self, name: str) -> None:
        del self._by_name[name]
        self._save()

    def begin(self, name: str, token: str, webhook_url: str | None) -> Instance:
        """Have an instance given at start, keeping what an earlier run remembered about it."""
        now = iso_now()
        known = self._by_name.get(name) or Instance(name=name, token=token, number=default_number(name), created_at=now)
        webhook = known.webhook
        if webhook is None and webhook_url is not None:
            webhook = Webhook(url=webhook_url, created_at=now, updated_at=now)
        return self.put(replace(known, token=token, webhook=webhook))

    def _save(self) -> None:
        draft = self._path.with_suffix(".draft")
        with draft.open("w") as file:
            json.dump([asdict(instance) for instance in self._by_name.values()], file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)


def default_number(name: str) -> str:
    """A made-up number of the instance's own, the same after every start."""
    subscriber = int(ids.instance_id(name).replace("-", ""), 16) % 10**8
    return f"55119{subscriber:08d}"


def _from_row(row: dict[str, Any]) -> Instance:
    webhook = row.pop("webhook")
    restored = Webhook(**{**webhook, "events": tuple(webhook["events"])}) if webhook else None
    return Instance(**{**row, "state": State(row["state"])}, webhook=restored)
