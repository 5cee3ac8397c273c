"""Whether a message that failed may be sent again, and what its next round is."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import assert_never
from uuid import UUID
from zoneinfo import ZoneInfo

from api.limits.domain import CounterKey, CounterName
from api.messages.domain.details import StoredMessage
from api.messages.domain.progress import Report
from api.messages.domain.refunds import MAY_HAVE_LEFT
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from contracts.errors import ErrorCode
from contracts.facts import MessageAccepted
from contracts.status import Status
from contracts.values import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A message an operator wants to be sent again, locked; `counted_*`: the counters it was counted on."""

    message: StoredMessage
    text_hash: str
    urgent: bool
    tenant_weight: int
    timezone: str
    counted_by_day: bool
    counted_by_month: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recount:
    """Where a round counts: one on each key; `day` and `month` are the periods, None where it does not count."""

    keys: tuple[CounterKey, ...]
    day: date | None
    month: date | None


def check_may_reprocess(ended: Ended, number: Number | None) -> str:
    """The sealed content, if the message may have another round; raises `RefusedError` for the first reason against.

    Only FAILED ends a message unsent against everybody's will: CANCELED is a promise to the client, and all else left.
    """
    message = ended.message
    if message.status is not Status.FAILED:
        raise RefusedError(Refusal.MESSAGE_NOT_REPROCESSABLE, extras={"messageStatus": message.status.value})
    if message.error_code is ErrorCode.RECIPIENT_OPTED_OUT:
        raise _refused("The recipient has opted out, so the message is not sent again.", message)
    if number is None or number.deleted_at is not None:
        raise _refused("The sending number was removed, so the message cannot be sent again.", message)
    if message.sealed is None:
        raise RefusedError(Refusal.CONTENT_FORGOTTEN)
    return message.sealed


def next_round(ended: Ended, sealed: str, *, now: datetime) -> MessageAccepted:
    """Due now, for as long as the first round was; flagged if an earlier one may have been sent."""
    message = ended.message
    return MessageAccepted(
        ref=message.ref.model_copy(update={"round": message.ref.round + 1}),
        deliver_by=now,
        deliver_until=now + (message.deliver_until - message.deliver_by),
        urgent=ended.urgent,
        tenant_weight=ended.tenant_weight,
        sealed=sealed,
        recipient_hash=message.recipient_hash,
        text_hash=ended.text_hash,
        accepted_at=now,
        duplicate_possible=message.duplicate_possible or message.error_code in MAY_HAVE_LEFT,
    )


def recount(ended: Ended, *, now: datetime) -> Recount:
    """A round counts like a new message, on the counters the first one was counted on, in the period of now."""
    ref = ended.message.ref
    today = now.astimezone(ZoneInfo(ended.timezone)).date()
    day = today if ended.counted_by_day else None
    month = today.replace(day=1) if ended.counted_by_month else None
    periods = ((_daily(ref.environment), day), (CounterName.LIVE_MONTHLY, month))
    keys = tuple(
        CounterKey(tenant_id=ref.tenant_id, name=name, period=period) for name, period in periods if period is not None
    )
    return Recount(keys=keys, day=day, month=month)


def step_of(ended: Ended, accepted: MessageAccepted, *, statement_id: UUID) -> Report:
    """The first step of the new round; it claims no status, for opening the round has set it."""
    code = ended.message.error_code
    return Report(
        statement_id=statement_id,
        ref=accepted.ref,
        what="reprocessed",
        at=accepted.accepted_at,
        detail={
            "previous_code": code.value if code else None,
            "deliver_until": accepted.deliver_until.isoformat(),
            "duplicate_possible": accepted.duplicate_possible,
        },
    )


def _refused(sentence: str, message: StoredMessage) -> RefusedError:
    return RefusedError(Refusal.MESSAGE_NOT_REPROCESSABLE, sentence, extras={"messageStatus": message.status.value})


def _daily(environment: Environment) -> CounterName:
    match environment:
        case Environment.TEST:
            return CounterName.TEST_DAILY
        case Environment.LIVE:
            return CounterName.LIVE_DAILY
        case _:
            assert_never(environment)
