"""How the statements are written: rows go in as one JSON document, and the instant is the database's unless given."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Integer, RowMapping, TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text, TypeEngine

from contracts.values import Category, Environment, MessageRef
from dispatcher.domain.fairness import RANKS, stream_index
from dispatcher.tables import CLAIMABLE

NOW = "coalesce(CAST(:now AS timestamptz), statement_timestamp())"
"""The instant of a statement. Stable within it, hence one instant for every comparison and usable by indexes."""

REF = "message_id, round, tenant_id, project_id, number_id, instance, environment, category, correlation_id"
"""The columns of a `MessageRef`."""

ROOM = "(CASE WHEN lane.state = 'OPEN' AND lane.probe_failures = 0 THEN lane.max_in_flight ELSE 1 END - lane.in_flight)"
"""How many more calls a lane may have in flight: one while it is being tried out."""

STREAMS = ", ".join(
    f"({rank}, '{environment}', {str(cold).lower()}, {stream_index(rank, environment, cold=cold) + 1})"
    for rank in range(RANKS)
    for environment in Environment
    for cold in (False, True)
)
"""Rows of VALUES: rank, environment, cold, and the stream's place in `floors`, which SQL counts from 1."""

ACCEPTED = """message_id uuid, round integer, tenant_id uuid, project_id uuid, number_id uuid, instance text,
           environment text, category text, correlation_id text, tenant_weight integer, priority smallint,
           urgent boolean, deliver_by timestamptz, deliver_until timestamptz, sealed text, recipient_hash text,
           text_hash text, duplicate_possible boolean"""
"""The columns of an accepted message."""

TAG = """greatest(virtual[rank + 1], finish) + coalesce(sum(1.0::double precision / tenant_weight) OVER (
               PARTITION BY instance, rank, tenant_id, is_new ORDER BY due_at, message_id, round
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)"""
"""`fairness.tags_for` over many tenants at once; a tenant without a finish tag starts at the virtual time."""

_PARTS = {
    "now": NOW,
    "accepted": ACCEPTED,
    "tag": TAG,
    "ref": REF,
    "job_ref": ", ".join(f"job.{column}" for column in REF.split(", ")),
    "claimable": CLAIMABLE,
    "room": ROOM,
    "streams": STREAMS,
}
_INSTANT = DateTime(timezone=True)
_TYPES: Mapping[str, TypeEngine[Any]] = {
    "now": _INSTANT,
    "restored_at": _INSTANT,
    "resolve_after": _INSTANT,
    "resolve_by": _INSTANT,
    "instances": ARRAY(Text()),
    "depths": ARRAY(Integer()),
}


def sql(statement: str, **parts: str) -> TextClause:
    """A statement whose parameters have the types their names promise; `{now}`, `{ref}`, `{job_ref}` are filled in.

    So are the `parts`, which are constants of this package.
    """
    for name, part in {**parts, **_PARTS}.items():
        statement = statement.replace(f"{{{name}}}", part)
    used = {name: kind for name, kind in _TYPES.items() if re.search(rf":{name}\b", statement)}
    return text(statement).bindparams(*(bindparam(name, type_=kind) for name, kind in used.items()))


def prefixed(columns: str, table: str) -> str:
    """The same list of columns, of one table."""
    return ", ".join(f"{table}.{column.strip()}" for column in columns.split(","))


def rows_json(rows: Sequence[Any] | Mapping[str, Any]) -> str:
    """Rows for `jsonb_to_recordset`."""
    return json.dumps(rows, default=_plain)


def ref_of(row: RowMapping) -> MessageRef:
    """The message a row is about; the row was written from a valid one."""
    return MessageRef.model_construct(
        message_id=row["message_id"],
        tenant_id=row["tenant_id"],
        project_id=row["project_id"],
        number_id=row["number_id"],
        instance=row["instance"],
        environment=Environment(row["environment"]),
        category=Category(row["category"]),
        correlation_id=row["correlation_id"],
        round=row["round"],
    )


def _plain(value: object) -> str:
    match value:
        case datetime():
            return value.isoformat()
        case UUID():
            return str(value)
        case _:
            raise TypeError(type(value).__name__)
