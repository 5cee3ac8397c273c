"""What the gateway remembers of its own messages: the rows and statuses behind findMessages and findStatusMessage."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evolution_simulator import ids
from evolution_simulator.instances import Instance
from evolution_simulator.ledger import Entry, whole_lines
from evolution_simulator.scripts import Act, Status

_DISAPPEARING_SETTING_AGE_SECONDS = 172_800
_REACHED = frozenset({Status.DELIVERY_ACK, Status.READ, Status.PLAYED})


def timestamp_of(entry: Entry) -> int:
    return int(datetime.fromisoformat(entry.at).timestamp())


def content_of(entry: Entry) -> dict[str, Any]:
    return entry.content or {"conversation": entry.text}


def key_of(entry: Entry) -> dict[str, Any]:
    key: dict[str, Any] = {"remoteJid": entry.jid, "fromMe": True, "id": entry.key_id}
    if (participant := _participant_of(entry)) is not None:
        key["participant"] = participant
    return key


def _participant_of(entry: Entry) -> str | None:
    """Only what the gateway relays by itself, buttons, names the recipient once more."""
    return entry.jid if entry.message_type == "viewOnceMessage" else None


def sent_body(entry: Entry, instance_id: str) -> dict[str, Any]:
    """The 201 body, which is also the data of `send.message`."""
    timestamp = timestamp_of(entry)
    return {
        "key": key_of(entry),
        "pushName": "Você",
        "status": "PENDING",
        "message": content_of(entry),
        "contextInfo": _context_info(timestamp),
        "messageType": entry.message_type,
        "messageTimestamp": timestamp,
        "instanceId": instance_id,
        "source": "web",
    }


def _context_info(timestamp: int) -> dict[str, Any]:
    setting = {"low": timestamp - _DISAPPEARING_SETTING_AGE_SECONDS, "high": 0, "unsigned": False}
    return {
        "mentionedJid": [],
        "groupMentions": [],
        "ephemeralSettingTimestamp": setting,
        "disappearingMode": {"initiator": 0},
    }


class MessageStore:
    """Message rows come from the ledger; statuses have a journal of their own beside it."""

    def __init__(self, journal: Path) -> None:
        self._entries: dict[str, list[Entry]] = defaultdict(list)
        self._instance_of: dict[str, str] = {}
        self._statuses: dict[str, list[Status]] = defaultdict(list)
        self._planned: dict[str, tuple[Status, ...]] = {}
        for row in whole_lines(journal):
            if "planned" in row:
                self._planned[row["key_id"]] = tuple(Status(word) for word in row["planned"])
            else:
                self._statuses[row["key_id"]].append(Status(row["status"]))
        self._journal = journal.open("ab", buffering=0)

    def close(self) -> None:
        self._journal.close()

    def add(self, entry: Entry) -> None:
        """Keep a row, unless the send is one whose row could not be written."""
        if entry.outcome != Act.ERROR_400_PRISMA_AFTER_SEND:
            self._entries[entry.instance].append(entry)
            self._instance_of[entry.key_id] = entry.instance

    def count(self, instance: str) -> int:
        return len(self._entries[instance])

    def has_row(self, key_id: str) -> bool:
        return key_id in self._instance_of

    def forget(self) -> None:
        """Lose every row, as a database that was set up anew; what is on disk of it stays for after a real restart."""
        self._entries.clear()
        self._instance_of.clear()

    def reached(self, key_id: str) -> bool:
        """Whether a message is known to have come to a phone."""
        return any(status in _REACHED for status in self._statuses.get(key_id, []))

    def record_plan(self, key_id: str, statuses: Iterable[Status]) -> None:
        self._planned[key_id] = tuple(statuses)
        self._write({"key_id": key_id, "planned": list(self._planned[key_id])})

    def record_status(self, key_id: str, status: Status) -> None:
        self._statuses[key_id].append(status)
        self._write({"key_id": key_id, "status": status})

    def outstanding(self, entry: Entry, usual: Sequence[Status]) -> Sequence[Status]:
        """The statuses an earlier run still owed for a message when it ended."""
        seen = self._statuses.get(entry.key_id, [])
        return [status for status in self._planned.get(entry.key_id, tuple(usual)) if status not in seen]

    def find(self, instance: Instance, where: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Rows that match the filters which the gateway honours, newest first; all other filters are ignored."""
        rows = [entry for entry in self._entries[instance.name] if matches(entry, where)]
        rows.sort(key=timestamp_of, reverse=True)
        return [self._row(entry, instance.id) for entry in rows]

    def find_statuses(self, instance: Instance, where: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            row
            for entry in self._entries[instance.name]
            if where.get("id") in (None, "", entry.key_id) and where.get("remoteJid") in (None, "", entry.jid)
            for row in self._status_rows(entry, instance.id)
        ]

    def _status_rows(self, entry: Entry, instance_id: str) -> list[dict[str, Any]]:
        return [
            {
                "id": ids.update_row_id(entry.key_id, position),
                "keyId": entry.key_id,
                "remoteJid": entry.jid,
                "fromMe": True,
                "participant": None,
                "pollUpdates": None,
                "status": status,
                "messageId": ids.message_row_id(entry.key_id),
                "instanceId": instance_id,
            }
            for position, status in enumerate(self._statuses.get(entry.key_id, []))
        ]

    def _row(self, entry: Entry, instance_id: str) -> dict[str, Any]:
        body = sent_body(entry, instance_id)
        del body["status"]
        updates = [{"status": status} for status in self._statuses.get(entry.key_id, [])]
        return {"id": ids.message_row_id(entry.key_id), **body, "MessageUpdate": updates}

    def _write(self, row: Mapping[str, Any]) -> None:
        self._journal.write(json.dumps(row).encode() + b"\n")


def matches(entry: Entry, where: Mapping[str, Any]) -> bool:
    """The filters of 2.3.7: `fromMe: false` cannot be asked for, remoteJid and remoteJidAlt are alternatives."""
    key = _mapping(where.get("key"))
    addresses = [address for address in (key.get("remoteJid"), key.get("remoteJidAlt")) if address]
    return (
        where.get("id") in (None, "", ids.message_row_id(entry.key_id))
        and where.get("source") in (None, "", "web")
        and where.get("messageType") in (None, "", entry.message_type)
        and key.get("id") in (None, "", entry.key_id)
        and key.get("participant") in (None, "", _participant_of(entry))
        and (not addresses or entry.jid in addresses)
        and _in_window(timestamp_of(entry), _mapping(where.get("messageTimestamp")))
    )


def _in_window(timestamp: int, window: Mapping[str, Any]) -> bool:
    earliest, latest = window.get("gte"), window.get("lte")
    if not earliest or not latest:
        return True
    return _javascript_date_seconds(earliest) <= timestamp <= _javascript_date_seconds(latest)


def _javascript_date_seconds(value: Any) -> float:
    """`Math.floor(new Date(value) / 1000)`: numbers are milliseconds; what is no date compares as false."""
    try:
        if isinstance(value, int | float):
            return math.floor(value / 1000)
        moment = datetime.fromisoformat(str(value))
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return math.floor(aware.timestamp())
    except (ValueError, OverflowError):
        return math.nan


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
