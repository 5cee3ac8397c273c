"""The checker finds every kind of violation where it was planted, and none where all is well."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.reliability.ledger import Promise, Send, Violation, Wrong, balance, balance_told, sends_of, too_soon

from contracts.errors import ErrorCode
from contracts.status import Status

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FINE = Promise(name="a", status=Status.READ, deliver_until=NOON + timedelta(minutes=1))


def sent(*names: str, after: float = 1.0) -> list[Send]:
    return [Send(name=name, at=NOON + timedelta(seconds=after * place)) for place, name in enumerate(names)]


def refused(code: ErrorCode, *, flagged: bool = False) -> Promise:
    return Promise(name="a", status=Status.FAILED, error_code=code, duplicate_possible=flagged)


@pytest.mark.parametrize(
    ("promise", "sends"),
    [
        (FINE, sent("a")),
        (Promise(name="a", status=Status.READ, duplicate_possible=True), sent("a", "a")),
        (refused(ErrorCode.WHATSAPP_NOT_EXIST), []),
        (refused(ErrorCode.UNCONFIRMED), sent("a")),
        (refused(ErrorCode.MESSAGE_EXPIRED, flagged=True), sent("a")),
        (Promise(name="a", status=Status.CANCELED), []),
    ],
)
def test_all_is_well(promise: Promise, sends: list[Send]) -> None:
    assert balance([promise], sends) == []


@pytest.mark.parametrize(
    ("promise", "sends", "wrong"),
    [
        (Promise(name="a", status=Status.QUEUED), [], Wrong.LOST),
        (Promise(name="a", status=Status.DISPATCHED), sent("a"), Wrong.LOST),
        (FINE, sent("a", "a"), Wrong.DUPLICATE),
        (FINE, sent("a", "b"), Wrong.PHANTOM),
        (FINE, sent("b", "a", after=61), Wrong.LATE),
        (FINE, [], Wrong.FALSE_SENT),
        (refused(ErrorCode.WHATSAPP_NOT_EXIST), sent("a"), Wrong.FALSE_FAILED),
        (Promise(name="a", status=Status.CANCELED), sent("a"), Wrong.FALSE_FAILED),
    ],
)
def test_a_planted_violation_is_found(promise: Promise, sends: list[Send], wrong: Wrong) -> None:
    assert wrong in {one.wrong for one in balance([promise], sends)}


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ([], Wrong.WEBHOOK_MISSING),
        ([Status.DISPATCHED, Status.READ, Status.READ], Wrong.WEBHOOK_DOUBLED),
        ([Status.READ, Status.SENT], Wrong.REGRESSED),
    ],
)
def test_what_the_customer_was_told_is_checked(told: list[Status], wrong: Wrong) -> None:
    assert balance_told([FINE], [("a", status) for status in told]) == [Violation(wrong=wrong, name="a")]
    assert balance_told([FINE], [("a", Status.DISPATCHED), ("a", Status.READ)]) == []


def test_gaps_are_checked_whatever_the_order_of_the_record() -> None:
    ledger = [{"text": one.name, "at": one.at.isoformat()} for one in sent("a", "b", "c")]
    sends = sends_of(reversed(ledger))
    assert too_soon(sends, gap_seconds=1.0) == []
    assert too_soon(sends, gap_seconds=1.2, slack_seconds=0.3) == []
    assert [one.name for one in too_soon(sends, gap_seconds=1.2)] == ["b", "c"]
