"""Fills every declared column of a service with sealed values, and looks at them as only a key ring can."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import Boolean, Column, DateTime, Integer, LargeBinary, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from api.app.keeping import SEALED as API
from chassis.seal import KeyRing
from chassis.sealed_columns import SealedColumn
from chassis.sealed_documents import opened_in
from dispatcher.tables import SEALED as DISPATCHER
from notifier.tables import SEALED as NOTIFIER
from reconciler.tables import SEALED as RECONCILER
from status_ingest.tables import SEALED as STATUS_INGEST

DECLARED: Mapping[str, Sequence[SealedColumn]] = {
    "api": API,
    "dispatcher": DISPATCHER,
    "status_ingest": STATUS_INGEST,
    "notifier": NOTIFIER,
    "reconciler": RECONCILER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one service, written around its rules on what belongs to what."""

    admin_url: str
    schema: str

    @property
    def columns(self) -> Sequence[SealedColumn]:
        return DECLARED[self.schema]

    async def seed(self, ring: KeyRing, *, rows: int) -> dict[str, set[bytes]]:
        """Rows in every table; by column, what was sealed."""
        planted: dict[str, set[bytes]] = {column.name: set() for column in self.columns}
        connection = await self._connect()
        try:
            for table in dict.fromkeys(column.table for column in self.columns):
                ours = [column for column in self.columns if column.table is table]
                for _ in range(rows):
                    owner = uuid4()
                    texts = {column.name: f"plain {uuid4()}".encode() for column in ours}
                    values = {column.column.name: _sealed(column, texts[column.name], owner, ring) for column in ours}
                    await _insert(
                        connection, table, owners={c.aad.name for c in ours if c.aad is not None}, owner=owner, **values
                    )
                    for name, text in texts.items():
                        planted[name].add(text)
        finally:
            await connection.close()
        return planted

    async def opened(self, ring: KeyRing) -> dict[str, set[bytes]]:
        """By column, what a ring opens; raises `SealError` where it cannot."""
        found: dict[str, set[bytes]] = {}
        connection = await self._connect()
        try:
            for column in self.columns:
                owner = column.aad.name if column.aad is not None else "1"
                value = f"{column.column.name}->>'{column.member}'" if column.member else column.column.name
                rows = await connection.fetch(f"SELECT {owner} AS owner, {value} AS value FROM {column.table}")
                found[column.name] = {
                    text for row in rows for text in _opened(column, row["value"], row["owner"], ring)
                }
        finally:
            await connection.close()
        return found

    async def clear(self) -> None:
        connection = await self._connect()
        try:
            for column in self.columns:
                await connection.execute(f"DELETE FROM {column.table}")
        finally:
            await connection.close()

    async def _connect(self) -> asyncpg.Connection:
        connection = await asyncpg.connect(self.admin_url, timeout=10)
        await connection.execute("SET session_replication_role = replica")
        return connection


def _sealed(column: SealedColumn, text: bytes, owner: UUID, ring: KeyRing) -> Any:
    if column.aad is None:
        return _statement(text, ring)
    if column.is_nested:
        return ring.seal(_statement(text, ring), aad=owner.bytes)
    sealed = ring.seal(text, aad=owner.bytes)
    return json.dumps({"kept": "as it is", column.member: sealed}) if column.member else sealed


def _statement(text: bytes, ring: KeyRing) -> bytes:
    """As `message.requeue` travels: the id beside the seal, both deep inside."""
    message_id = uuid4()
    accepted = {"ref": {"message_id": str(message_id)}, "sealed": ring.seal(text, aad=message_id.bytes)}
    return json.dumps({"said": "Olá", "accepted": accepted}, ensure_ascii=False).encode()


def _opened(column: SealedColumn, value: Any, owner: UUID, ring: KeyRing) -> Sequence[bytes]:
    if column.aad is None:
        return _of(value, ring)
    plaintext = ring.open(value, aad=owner.bytes)
    return _of(plaintext, ring) if column.is_nested else [plaintext]


def _of(body: bytes, ring: KeyRing) -> Sequence[bytes]:
    assert json.loads(body)["said"] == "Olá"
    return list(opened_in(body, ring))


async def _insert(
    connection: asyncpg.Connection, table: Table, *, owners: set[str], owner: UUID, **values: Any
) -> None:
    filled = dict.fromkeys(owners, owner) | values
    for column in table.columns:
        optional = column.nullable or column.server_default is not None or column.computed or column.identity
        if column.name not in filled and not optional:
            filled[column.name] = _anything(column)
    names = ", ".join(filled)
    places = ", ".join(f"${place}" for place in range(1, len(filled) + 1))
    await connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", *filled.values())


def _anything(column: Column[Any]) -> Any:
    match column.type:
        case Uuid():
            return uuid4()
        case DateTime():
            return datetime.now(UTC)
        case Boolean():
            return False
        case Integer():
            return 1
        case LargeBinary():
            return b""
        case JSONB():
            return "{}"
        case ARRAY():
            return []
        case Text():
            return str(uuid4())
        case other:
            raise AssertionError(other)
