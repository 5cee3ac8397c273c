"""Where a service keeps sealed values: declared once beside its tables, read and written again in bites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, Text, bindparam, delete, func, select, tuple_, update
from sqlalchemy import column as named
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, array

from chassis.database import Transaction
from chassis.seal import SEAL_HEAD_CHARS, KeyRing, key_id_of
from chassis.sealed_documents import key_ids_in, resealed_document

Key = tuple[Any, ...]
"""A primary key."""

UNREADABLE = "unreadable"
"""Stands for the key id of what is no seal."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SealedColumn:
    """Sealed under the id in `aad`; `member` names the seal inside a JSONB column.

    `is_nested`: what was sealed is a document that may hold seals itself. Without `aad` the column is such a document.
    """

    column: Column[Any]
    aad: Column[Any] | None = None
    member: str | None = None
    is_nested: bool = False

    @property
    def name(self) -> str:
        """For people and metrics."""
        return ".".join([self.table.name, self.column.name, *([self.member] if self.member else [])])

    @property
    def table(self) -> Table:
        """Where it is."""
        return self.column.table

    async def page(
        self, tx: Transaction, *, after: Key | None, limit: int, whole: bool = False
    ) -> Sequence[tuple[Key, Any, Any]]:
        """The next rows by primary key: key, owner, and the value, of which there is as much as tells its keys."""
        keys = self._keys
        is_whole = whole or self.is_nested or self.aad is None
        value = self._value if is_whole else func.left(self._value, SEAL_HEAD_CHARS)
        query = select(*keys, self._owner.label("owner"), value.label("value")).order_by(*keys).limit(limit)
        if after is not None:
            query = query.where(tuple_(*keys) > tuple_(*_literals(keys, after)))
        return [(tuple(row[: len(keys)]), row.owner, row.value) for row in await tx.execute(query)]

    async def locked(self, tx: Transaction, wanted: Sequence[Key]) -> Mapping[Key, tuple[Any, Any]]:
        """Owner and value of those rows that nobody else holds."""
        keys = self._keys
        query = select(*keys, self._owner.label("owner"), self._value.label("value")).where(self._is_one_of(wanted))
        rows = await tx.execute(query.with_for_update(skip_locked=True))
        return {tuple(row[: len(keys)]): (row.owner, row.value) for row in rows if row.value is not None}

    async def write(self, tx: Transaction, values: Mapping[Key, Any]) -> None:
        """New values of locked rows."""
        keys = self._keys
        names = [f"key_{place}" for place in range(len(keys))]
        kind = Text() if self.member is not None else self.column.type
        arrays = [
            bindparam(name, [key[place] for key in values], ARRAY(column.type))
            for place, (name, column) in enumerate(zip(names, keys, strict=True))
        ]
        arrays.append(bindparam("fresh", list(values.values()), ARRAY(kind)))
        columns = [*(named(name, column.type) for name, column in zip(names, keys, strict=True)), named("fresh", kind)]
        given = func.unnest(*arrays).table_valued(*columns, name="given").render_derived()
        fresh: ColumnElement[Any] = given.c.fresh
        if self.member is not None:
            path = array([self.member], type_=Text)
            fresh = func.jsonb_set(self.column, path, func.to_jsonb(fresh, type_=JSONB), type_=JSONB)
        matches = [column == given.c[name] for column, name in zip(keys, names, strict=True)]
        await tx.execute(update(self.table).where(*matches).values({self.column: fresh}))

    async def delete(self, tx: Transaction, wanted: Sequence[Key], *, where: ColumnElement[bool] | None = None) -> int:
        """Delete these rows; those outside `where` stay. How many went."""
        statement = delete(self.table).where(self._is_one_of(wanted))
        return (await tx.execute(statement.where(where) if where is not None else statement)).rowcount

    def key_ids(self, value: Any, owner: Any, ring: KeyRing) -> set[str]:
        """Of every seal in it; raises `SealError` where it has to be opened and cannot be."""
        if self.aad is None:
            return key_ids_in(value)
        ids = {key_id_of(value) or UNREADABLE}
        if self.is_nested and ids <= ring.key_ids:
            ids |= key_ids_in(ring.open(value, aad=owner.bytes))
        return ids

    def refreshed(self, value: Any, owner: Any, ring: KeyRing) -> Any:
        """The same under the active key; raises `SealError`."""
        if self.aad is None:
            return resealed_document(value, ring)
        if not self.is_nested:
            return ring.resealed(value, aad=owner.bytes)
        return ring.seal(resealed_document(ring.open(value, aad=owner.bytes), ring), aad=owner.bytes)

    def _is_one_of(self, wanted: Sequence[Key]) -> ColumnElement[bool]:
        return tuple_(*self._keys).in_(list(wanted))

    @property
    def _keys(self) -> list[Column[Any]]:
        return list(self.table.primary_key.columns)

    @property
    def _value(self) -> ColumnElement[Any]:
        return self.column if self.member is None else self.column[self.member].astext

    @property
    def _owner(self) -> ColumnElement[Any]:
        return self.aad if self.aad is not None else self._keys[0]


def _literals(keys: Sequence[Column[Any]], values: Key) -> list[Any]:
    return [bindparam(None, value, type_=column.type) for column, value in zip(keys, values, strict=True)]
