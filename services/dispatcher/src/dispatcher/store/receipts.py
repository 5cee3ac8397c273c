"""What was reported of messages that left, on their jobs; and whom a number does not know after all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chassis.database import Transaction
from contracts.facts import ReceiptRecorded
from contracts.status import Status
from dispatcher.domain.health import weight
from dispatcher.domain.jobs import JobKey, JobState
from dispatcher.store.sql import rows_json, sql

_KNOWN_WEIGHT = (
    "CASE job.receipt WHEN 'SENT' THEN 1 WHEN 'FAILED' THEN 2 WHEN 'DELIVERED' THEN 3 WHEN 'READ' THEN 3 END"
)

_MARK = sql(
    """
    WITH given AS MATERIALIZED (
        SELECT job.message_id, job.round, reported.status, reported.reported_at
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS reported(
               message_id uuid, round integer, instance text, status text, weight integer, reported_at timestamptz)
          JOIN dispatcher.jobs AS job USING (message_id, round, instance)
         WHERE reported.weight > coalesce({known_weight}, 0)
         ORDER BY job.message_id, job.round FOR UPDATE OF job)
    UPDATE dispatcher.jobs AS job SET receipt = given.status, receipt_at = least(given.reported_at, {now})
      FROM given WHERE job.message_id = given.message_id AND job.round = given.round
    RETURNING job.message_id, job.round, job.instance, job.state, job.cold, job.receipt, job.receipt_at,
              job.recipient_hash, job.text_hash, job.suspected_since IS NOT NULL AS is_suspect
    """,
    known_weight=_KNOWN_WEIGHT,
)
"""Only news is written: a job is updated once or twice in its life, whatever the number of its receipts."""

_FORGET = sql("""
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS refused(
               instance text, recipient_hash text, text_hash text, cold boolean)),
    refused AS MATERIALIZED (
        SELECT contact.instance, contact.recipient_hash, bool_or(given.cold) AS cold
          FROM given JOIN dispatcher.contacts AS contact USING (instance, recipient_hash)
         WHERE contact.last_text_hash = given.text_hash
         GROUP BY contact.instance, contact.recipient_hash),
    locked AS (
        SELECT contact.instance, contact.recipient_hash, refused.cold
          FROM refused JOIN dispatcher.contacts AS contact USING (instance, recipient_hash)
         ORDER BY contact.instance, contact.recipient_hash FOR UPDATE OF contact),
    unknown AS (
        DELETE FROM dispatcher.contacts AS contact USING locked
         WHERE locked.cold AND contact.instance = locked.instance AND contact.recipient_hash = locked.recipient_hash)
    UPDATE dispatcher.contacts AS contact SET last_text_hash = ''
      FROM locked
     WHERE NOT locked.cold AND contact.instance = locked.instance AND contact.recipient_hash = locked.recipient_hash
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A job of which a receipt told something new."""

    key: JobKey
    instance: str
    state: JobState
    cold: bool
    is_suspect: bool
    receipt: Status
    receipt_at: datetime
    recipient_hash: str
    text_hash: str


async def mark(tx: Transaction, facts: Sequence[ReceiptRecorded], *, now: datetime | None) -> Sequence[Reported]:
    """Note what is new, one receipt per job at most; unknown jobs and what is known or outweighed are left out."""
    rows = [
        {
            "message_id": fact.ref.message_id,
            "round": fact.ref.round,
            "instance": fact.ref.instance,
            "status": fact.status,
            "weight": weight(fact.status),
            "reported_at": fact.occurred_at,
        }
        for fact in facts
    ]
    found = (await tx.execute(_MARK, {"rows": rows_json(rows), "now": now})).mappings()
    return [
        Reported(
            key=(row["message_id"], row["round"]),
            instance=row["instance"],
            state=JobState(row["state"]),
            cold=row["cold"],
            is_suspect=row["is_suspect"],
            receipt=Status(row["receipt"]),
            receipt_at=row["receipt_at"],
            recipient_hash=row["recipient_hash"],
            text_hash=row["text_hash"],
        )
        for row in found
    ]


async def forget_refused(tx: Transaction, refused: Sequence[Reported]) -> None:
    """Whom a refused first contact was for is no contact; a refused text is not the last one a contact was told."""
    rows = [
        {
            "instance": one.instance,
            "recipient_hash": one.recipient_hash,
            "text_hash": one.text_hash,
            "cold": one.cold,
        }
        for one in refused
    ]
    await tx.execute(_FORGET, {"rows": rows_json(rows)})
