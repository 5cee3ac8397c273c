"""The truth about what was sent: an append-only file, durable before the caller is answered."""

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One accepted send. `number` is as requested, `at` ISO 8601 UTC, `outcome` what the caller was to be told.

    `kind` is text, image, video, document, audio, voice, sticker, buttons or list; `text` the words that came with it.
    """

    seq: int
    at: str
    instance: str
    key_id: str
    number: str
    jid: str
    text: str
    outcome: str
    kind: str = "text"
    payload: dict[str, Any] | None = None
    message_type: str = "conversation"
    content: dict[str, Any] | None = None

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Waiting:
    line: bytes
    written: asyncio.Future[None]


class Ledger:
    """Appends lines in batches with one fsync each, so that concurrent sends share its price."""

    def __init__(self, path: Path, batch_max: int) -> None:
        self._path = path
        self._batch_max = batch_max
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._writer: asyncio.Task[None] | None = None
        self._seq = 0

    def open(self) -> Sequence[Entry]:
        """Read what earlier runs accepted and continue the file after its last whole line."""
        entries = tuple(Entry(**row) for row in whole_lines(self._path))
        self._seq = entries[-1].seq if entries else 0
        self._writer = asyncio.create_task(self._write_batches(), name="ledger")
        return entries

    def next_seq(self) -> int:
        self._seq += 1
        return self._seq

    async def append(self, entry: Entry) -> None:
        """Return once the entry is on disk; raises OSError if it cannot be."""
        written = asyncio.get_running_loop().create_future()
        line = json.dumps(entry.as_row(), ensure_ascii=True).encode() + b"\n"
        self._queue.put_nowait(_Waiting(line, written))
        await written

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.cancel()
            with suppress(asyncio.CancelledError):
                await self._writer

    async def _write_batches(self) -> None:
        with self._path.open("ab") as file:
            while True:
                batch = [await self._queue.get()]
                while len(batch) < self._batch_max and not self._queue.empty():
                    batch.append(self._queue.get_nowait())
                await self._write(file, batch)

    async def _write(self, file: BinaryIO, batch: Sequence[_Waiting]) -> None:
        try:
            await asyncio.to_thread(_write_durably, file, b"".join(item.line for item in batch))
        except OSError as failure:
            for item in batch:
                if not item.written.done():
                    item.written.set_exception(failure)
            return
        for item in batch:
            if not item.written.done():
                item.written.set_result(None)


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """Every complete JSON line of a file; a tail torn by a crash is cut off, for nobody was ever told of it."""
    if not path.exists():
        return []
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)
    return [json.loads(line) for line in content[:end].splitlines()]


def _write_durably(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fdatasync(file.fileno())
