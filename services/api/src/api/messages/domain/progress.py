"""What each fact means for a message's public status and its list of steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import assert_never
from uuid import UUID, uuid5

from contracts.errors import ErrorCode
from contracts.facts import (
    MessageDeferred,
    MessageDispatchCanceled,
    MessageDispatched,
    MessageDispatchFailed,
    MessageLost,
    MessageUncertain,
    ReceiptRecorded,
    WebhookDelivered,
    WebhookExhausted,
)
from contracts.statement import Statement
from contracts.status import RANK, Status
from contracts.values import MessageRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A fact seen from the message: a step it has taken, and the status it claims, if it claims one."""

    statement_id: UUID
    ref: MessageRef
    what: str
    at: datetime
    detail: Mapping[str, object] = field(default_factory=dict)
    status: Status | None = None
    external_id: str | None = None
    error_code: ErrorCode | None = None
    duplicate_possible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A public status that moved."""

    ref: MessageRef
    previous: Status
    status: Status
    version: int
    error_code: ErrorCode | None
    external_id: str | None
    accepted_at: datetime
    changed_at: datetime
    sealed: str | None
    dispatched_at: datetime | None = None
    usage_day: date | None = None
    usage_month: date | None = None
    usage_returned: bool = False


def report_of(statement: Statement, *, statement_id: UUID, said_at: datetime) -> Report | None:
    """The report in a statement; None for one that is not about a message's way."""
    match statement:
        case MessageDispatched():
            return Report(
                statement_id=statement_id,
                ref=statement.ref,
                what="dispatched",
                at=statement.dispatched_at,
                detail={"attempt": statement.attempt, "proof": statement.proof.value},
                status=Status.DISPATCHED,
                external_id=statement.key_id,
                duplicate_possible=statement.duplicate_possible,
            )
        case ReceiptRecorded():
            return Report(
                statement_id=statement_id,
                ref=statement.ref,
                what="receipt",
                at=statement.occurred_at,
                detail={"status": statement.status.value, "source": statement.source.value},
                status=statement.status,
                external_id=statement.key_id,
                error_code=ErrorCode.GATEWAY_REPORTED_ERROR if statement.status is Status.FAILED else None,
            )
        case MessageDispatchFailed() | MessageLost():
            return _failed(statement, statement_id=statement_id)
        case MessageDispatchCanceled():
            return canceled(statement.ref, at=statement.canceled_at)
        case MessageDeferred() | MessageUncertain() | WebhookDelivered() | WebhookExhausted():
            return _step_only(statement, statement_id=statement_id, said_at=said_at)
        case _:
            return None


def _failed(statement: MessageDispatchFailed | MessageLost, *, statement_id: UUID) -> Report:
    code: dict[str, object] = {"code": statement.error_code.value}
    match statement:
        case MessageDispatchFailed():
            what, at = "dispatch_failed", statement.failed_at
            detail = {"attempt": statement.attempt, **code, "detail": statement.detail}
        case MessageLost():
            what, at, detail = "lost", statement.lost_at, code
        case _:
            assert_never(statement)
    return Report(
        statement_id=statement_id,
        ref=statement.ref,
        what=what,
        at=at,
        detail=detail,
        status=Status.FAILED,
        error_code=statement.error_code,
    )


def canceled(ref: MessageRef, *, at: datetime) -> Report:
    """The report of a cancellation: one and the same whether the dispatcher's answer or its fact brings it first."""
    return Report(
        statement_id=uuid5(ref.message_id, f"canceled in round {ref.round}"),
        ref=ref,
        what="canceled",
        at=at,
        status=Status.CANCELED,
    )


def _step_only(
    statement: MessageDeferred | MessageUncertain | WebhookDelivered | WebhookExhausted,
    *,
    statement_id: UUID,
    said_at: datetime,
) -> Report:
    detail = statement.model_dump(mode="json", exclude={"ref"}, exclude_none=True)
    what = statement.TYPE.split(".")[0] + "_" + statement.TYPE.split(".")[1]
    return Report(
        statement_id=statement_id, ref=statement.ref, what=what.removeprefix("message_"), at=said_at, detail=detail
    )


def waves(reports: Sequence[Report]) -> Iterator[list[Report]]:
    """The reports that claim a status, in rounds of at most one per message, so that each round is one statement.

    Lower ranks first: where a batch holds several reports on one message, each of them becomes a transition to tell.
    The first round names every message, so that all rows are locked by it and in the same order on every replica.
    """
    claims = [(report.ref.round, RANK[report.status], report) for report in reports if report.status is not None]
    rest = [report for _, _, report in sorted(claims, key=lambda claim: claim[:2])]
    while rest:
        wave: dict[UUID, Report] = {}
        later: list[Report] = []
        for report in rest:
            if report.ref.message_id in wave:
                later.append(report)
            else:
                wave[report.ref.message_id] = report
        yield list(wave.values())
        rest = later
