"""Attempts that ended become the new state of their jobs, many at once, each fenced by its number and lease token."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never
from uuid import UUID

from chassis.database import Transaction
from contracts.facts.messages import Proof
from dispatcher.domain.jobs import Attempt, JobState
from dispatcher.domain.verdicts import Dispatched, Failed, Held, Released, Retry, Uncertain, Verdict
from dispatcher.store.contacts import REMEMBER, REMEMBERED
from dispatcher.store.sql import rows_json, sql

_SETTLE = sql(
    """
    WITH verdict AS (
        SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(
               message_id uuid, round integer, attempt integer, lease_token uuid, ended_at timestamptz, state text,
               outcome text, reason text, detail text, due_at timestamptz, error_code text, key_id text, proof text,
               resolve_after timestamptz, resolve_by timestamptz, is_final boolean)),
    settled AS (
        UPDATE dispatcher.jobs AS job
           SET state = verdict.state, reason = verdict.reason, error_code = verdict.error_code,
               attempt = CASE WHEN verdict.outcome = 'NOT_CALLED' THEN job.attempt - 1 ELSE job.attempt END,
               key_id = coalesce(verdict.key_id, job.key_id), proof = coalesce(verdict.proof, job.proof),
               due_at = coalesce(verdict.due_at, job.due_at), lease_token = NULL, lease_until = NULL,
               sealed = CASE WHEN verdict.is_final THEN NULL ELSE job.sealed END,
               finished_at = CASE WHEN verdict.is_final THEN verdict.ended_at END,
               suspected_since = coalesce(job.suspected_since,
                                          CASE WHEN verdict.state = 'UNCERTAIN' THEN job.started_at END),
               resolve_after = verdict.resolve_after, resolve_by = verdict.resolve_by,
               next_check_at = CASE WHEN verdict.state = 'UNCERTAIN' THEN verdict.ended_at END,
               check_failures = 0, updated_at = verdict.ended_at
          FROM verdict
         WHERE job.message_id = verdict.message_id AND job.round = verdict.round AND job.state = 'IN_FLIGHT'
           AND job.attempt = verdict.attempt AND job.lease_token = verdict.lease_token
        RETURNING verdict.lease_token AS token, job.place_given_up, {remembered}),
    remembered AS ({remember}),
    noted AS (
        UPDATE dispatcher.attempts AS tried
           SET finished_at = verdict.ended_at, outcome = verdict.outcome, reason = verdict.reason,
               detail = verdict.detail
          FROM verdict JOIN settled ON settled.token = verdict.lease_token
         WHERE tried.message_id = verdict.message_id AND tried.round = verdict.round
           AND tried.attempt = verdict.attempt AND verdict.outcome <> 'NOT_CALLED'),
    taken_back AS (
        DELETE FROM dispatcher.attempts AS tried
         USING verdict JOIN settled ON settled.token = verdict.lease_token
         WHERE tried.message_id = verdict.message_id AND tried.round = verdict.round
           AND tried.attempt = verdict.attempt AND verdict.outcome = 'NOT_CALLED')
    SELECT token, place_given_up FROM settled
    """,
    remember=REMEMBER.format(moved="settled"),
    remembered=REMEMBERED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """An attempt and what came of it."""

    attempt: Attempt
    verdict: Verdict
    ended_at: datetime


async def settle(tx: Transaction, settlements: Sequence[Settlement]) -> dict[UUID, bool]:
    """By lease token, the attempts that moved their job, and whether each held its lane's place.

    An attempt whose lease was lost moves nothing, even beside the one that took its place.
    """
    result = await tx.execute(_SETTLE, {"rows": rows_json([_row(settlement) for settlement in settlements])})
    return {row.token: not row.place_given_up for row in result}


def _row(settlement: Settlement) -> dict[str, Any]:
    attempt = settlement.attempt
    return {
        "message_id": attempt.ref.message_id,
        "round": attempt.ref.round,
        "attempt": attempt.attempt,
        "lease_token": attempt.lease_token,
        "ended_at": settlement.ended_at,
        **_columns(settlement.verdict),
    }


def _columns(verdict: Verdict) -> dict[str, Any]:
    match verdict:
        case Dispatched():
            return {
                "state": JobState.DISPATCHED,
                "outcome": "TAKEN",
                "key_id": verdict.key_id,
                "proof": Proof.RESPONSE,
                "is_final": True,
            }
        case Failed():
            return {
                "state": JobState.FAILED,
                "outcome": "FAILED",
                "error_code": verdict.code,
                "reason": verdict.code,
                "detail": verdict.detail,
                "is_final": True,
            }
        case Retry():
            return _again("NOT_SENT", verdict.reason, detail=verdict.detail, due_at=verdict.next_attempt_at)
        case Held():
            return _again("NOT_SENT", verdict.reason, detail=verdict.detail)
        case Released():
            return _again("NOT_CALLED", verdict.reason, due_at=verdict.not_before)
        case Uncertain():
            return {
                "state": JobState.UNCERTAIN,
                "outcome": "UNKNOWN",
                "reason": verdict.reason,
                "detail": verdict.detail,
                "resolve_after": verdict.resolve_after,
                "resolve_by": verdict.resolve_by,
            }
        case _:
            assert_never(verdict)


def _again(outcome: str, reason: str, *, detail: str | None = None, due_at: datetime | None = None) -> dict[str, Any]:
    return {
        "state": JobState.SCHEDULED,
        "outcome": outcome,
        "reason": reason,
        "detail": detail,
        "due_at": due_at,
    }
