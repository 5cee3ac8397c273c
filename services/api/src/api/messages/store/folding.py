"""Moving messages on: the rule that a status never goes backwards is the WHERE clause here."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Boolean, DateTime, SmallInteger, Text, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import insert

from api.messages.domain.progress import Report, Transition
from api.messages.store.rows import ref_of
from api.messages.tables import STEPS
from chassis.database import Transaction
from contracts.errors import ErrorCode
from contracts.status import RANK, Status

ADVANCE = text("""
WITH reported AS (
    SELECT * FROM unnest(:ids, :rounds, :statuses, :ranks, :instants, :external_ids, :error_codes)
        AS r(id, round, status, rank, at, external_id, error_code)
), known AS (
    SELECT m.id, m.status AS previous FROM api.messages m JOIN reported r ON r.id = m.id
    ORDER BY m.id FOR UPDATE OF m
)
UPDATE api.messages m SET
    status = r.status, round = r.round, version = m.version + 1,
    external_id = coalesce(r.external_id, m.external_id),
    error_code = r.error_code,
    dispatched_at = CASE WHEN r.status = 'DISPATCHED' THEN r.at ELSE m.dispatched_at END,
    sent_at = CASE WHEN r.status = 'SENT' THEN r.at ELSE m.sent_at END,
    delivered_at = CASE WHEN r.status = 'DELIVERED' THEN r.at ELSE m.delivered_at END,
    read_at = CASE WHEN r.status = 'READ' THEN r.at ELSE m.read_at END,
    failed_at = CASE WHEN r.status = 'FAILED' THEN r.at ELSE m.failed_at END,
    canceled_at = CASE WHEN r.status = 'CANCELED' THEN r.at ELSE m.canceled_at END
FROM reported r JOIN known k ON k.id = r.id
WHERE m.id = r.id AND (
    r.round > m.round
    OR r.round = m.round AND CASE WHEN r.status = 'CANCELED' THEN m.status = 'QUEUED' ELSE r.rank > m.status_rank END)
RETURNING m.*, k.previous, r.at AS changed_at
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("rounds", type_=ARRAY(SmallInteger)),
    bindparam("statuses", type_=ARRAY(Text)),
    bindparam("ranks", type_=ARRAY(SmallInteger)),
    bindparam("instants", type_=ARRAY(DateTime(timezone=True))),
    bindparam("external_ids", type_=ARRAY(Text)),
    bindparam("error_codes", type_=ARRAY(Text)),
)


async def advance(tx: Transaction, reports: Sequence[Report]) -> list[Transition]:
    """Move every message on whose report outranks what is known (architecture §4); at most one report per message."""
    claims = [(report, report.status) for report in reports if report.status is not None]
    if not claims:
        return []
    parameters = {
        "ids": [report.ref.message_id for report, _ in claims],
        "rounds": [report.ref.round for report, _ in claims],
        "statuses": [status.value for _, status in claims],
        "ranks": [RANK[status] for _, status in claims],
        "instants": [report.at for report, _ in claims],
        "external_ids": [report.external_id for report, _ in claims],
        "error_codes": [report.error_code.value if report.error_code else None for report, _ in claims],
    }
    return [transition_of(row) for row in (await tx.execute(ADVANCE, parameters)).mappings()]


def transition_of(row: Any) -> Transition:
    """A row that moved, with its `previous` status and `changed_at`."""
    return Transition(
        ref=ref_of(row),
        previous=Status(row["previous"]),
        status=Status(row["status"]),
        version=row["version"],
        error_code=ErrorCode(row["error_code"]) if row["error_code"] else None,
        external_id=row["external_id"],
        accepted_at=row["accepted_at"],
        changed_at=row["changed_at"],
        sealed=row["sealed"],
        dispatched_at=row["dispatched_at"],
        usage_day=row["usage_day"],
        usage_month=row["usage_month"],
        usage_returned=row["usage_returned"],
    )


COMPLETE = text("""
UPDATE api.messages m SET
    external_id = coalesce(m.external_id, r.external_id),
    dispatched_at = coalesce(m.dispatched_at, r.at),
    duplicate_possible = m.duplicate_possible OR r.duplicate_possible
FROM unnest(:ids, :rounds, :instants, :external_ids, :duplicates)
    AS r(id, round, at, external_id, duplicate_possible)
WHERE m.id = r.id AND m.round = r.round AND (m.dispatched_at IS NULL OR r.duplicate_possible)
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("rounds", type_=ARRAY(SmallInteger)),
    bindparam("instants", type_=ARRAY(DateTime(timezone=True))),
    bindparam("external_ids", type_=ARRAY(Text)),
    bindparam("duplicates", type_=ARRAY(Boolean)),
)


async def complete_dispatch(tx: Transaction, reports: Sequence[Report]) -> None:
    """When a receipt overtook the news of the dispatch, fill in when and as what the message left; no status moves."""
    dispatched = [report for report in reports if report.status is Status.DISPATCHED]
    if not dispatched:
        return
    parameters = {
        "ids": [report.ref.message_id for report in dispatched],
        "rounds": [report.ref.round for report in dispatched],
        "instants": [report.at for report in dispatched],
        "external_ids": [report.external_id for report in dispatched],
        "duplicates": [report.duplicate_possible for report in dispatched],
    }
    await tx.execute(COMPLETE, parameters)


INSERT_STEP = insert(STEPS).on_conflict_do_nothing().returning(STEPS.c.statement_id)


async def insert_steps(tx: Transaction, reports: Sequence[Report]) -> set[UUID]:
    """Record steps; the statement ids among them that were not recorded before."""
    rows = [
        {
            "message_id": report.ref.message_id,
            "statement_id": report.statement_id,
            "at": report.at,
            "what": report.what,
            "round": report.ref.round,
            "detail": report.detail,
        }
        for report in sorted(reports, key=lambda report: (report.ref.message_id, report.statement_id))
    ]
    return set((await tx.execute(INSERT_STEP, rows)).scalars())
