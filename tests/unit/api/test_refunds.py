"""What is given back to a tenant's limits: what never left, once, and counted again if it left after all."""

from dataclasses import replace
from datetime import date

import pytest

from api.limits.domain import CounterKey, CounterName
from api.messages.domain.progress import Transition
from api.messages.domain.refunds import settle
from contracts.errors import ErrorCode
from contracts.status import Status
from contracts.values import Environment

from .people import NOW, REF

DAY, MONTH = date(2025, 6, 2), date(2025, 6, 1)
CANCELED = Transition(
    ref=REF,
    previous=Status.QUEUED,
    status=Status.CANCELED,
    version=2,
    error_code=None,
    external_id=None,
    accepted_at=NOW,
    changed_at=NOW,
    sealed=None,
    usage_day=DAY,
    usage_month=MONTH,
)
FAILED = replace(CANCELED, status=Status.FAILED, error_code=ErrorCode.MESSAGE_EXPIRED)
LIVE = {
    CounterKey(tenant_id=REF.tenant_id, name=CounterName.LIVE_DAILY, period=DAY),
    CounterKey(tenant_id=REF.tenant_id, name=CounterName.LIVE_MONTHLY, period=MONTH),
}


@pytest.mark.parametrize("transition", [CANCELED, FAILED, replace(FAILED, error_code=ErrorCode.WHATSAPP_NOT_EXIST)])
def test_what_never_left_is_given_back_to_all_its_counters(transition: Transition) -> None:
    settlement = settle([transition])
    assert settlement.amounts == dict.fromkeys(LIVE, -1)
    assert settlement.returned == {REF.message_id: True}


def test_a_test_message_is_given_back_to_the_day_of_tests() -> None:
    test = replace(CANCELED, ref=REF.model_copy(update={"environment": Environment.TEST}), usage_month=None)
    assert list(settle([test]).amounts) == [
        CounterKey(tenant_id=REF.tenant_id, name=CounterName.TEST_DAILY, period=DAY)
    ]


@pytest.mark.parametrize(
    "transition",
    [
        replace(FAILED, error_code=ErrorCode.UNCONFIRMED),
        replace(FAILED, error_code=ErrorCode.DELIVERED_NOT_CONFIRMED),
        replace(FAILED, error_code=ErrorCode.GATEWAY_REPORTED_ERROR),
        replace(FAILED, dispatched_at=NOW),
        replace(FAILED, external_id="3EB0"),
        replace(CANCELED, status=Status.SENT),
        replace(CANCELED, usage_day=None, usage_month=None),
    ],
)
def test_what_left_or_may_have_left_or_was_never_counted_is_not_given_back(transition: Transition) -> None:
    settlement = settle([transition])
    assert (settlement.amounts, settlement.returned) == ({}, {})


def test_nothing_is_given_back_twice() -> None:
    assert settle([CANCELED, FAILED]).amounts == dict.fromkeys(LIVE, -1)
    assert settle([replace(FAILED, usage_returned=True)]).amounts == {}


@pytest.mark.parametrize("status", [Status.DISPATCHED, Status.SENT, Status.DELIVERED, Status.READ])
def test_what_left_after_all_is_counted_again(status: Status) -> None:
    settlement = settle([replace(FAILED, status=status, error_code=None, usage_returned=True)])
    assert settlement.amounts == dict.fromkeys(LIVE, 1)
    assert settlement.returned == {REF.message_id: False}
