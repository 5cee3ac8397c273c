"""Which keys may be issued, and from which number a key sends."""

from dataclasses import replace

import pytest

from api.access.domain import KeyScope, check_belongs, check_rate, scope_of, sending_number
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from contracts.ids import uuid7

from .people import CALLER, NOW, NUMBER

TENANT_ID = CALLER.tenant_id


@pytest.mark.parametrize(
    ("wanted", "number_given", "scope"),
    [
        (None, True, KeyScope.NUMBER),
        (KeyScope.NUMBER, True, KeyScope.NUMBER),
        (None, False, KeyScope.DEFAULT),
        (KeyScope.DEFAULT, False, KeyScope.DEFAULT),
        (KeyScope.TENANT, False, KeyScope.TENANT),
    ],
)
def test_the_scope_follows_from_the_number(wanted: KeyScope | None, number_given: bool, scope: KeyScope) -> None:
    assert scope_of(wanted, number_given=number_given) is scope


@pytest.mark.parametrize(
    ("wanted", "number_given"), [(KeyScope.NUMBER, False), (KeyScope.DEFAULT, True), (KeyScope.TENANT, True)]
)
def test_a_scope_that_does_not_go_with_the_number_is_refused(wanted: KeyScope, number_given: bool) -> None:
    with pytest.raises(RefusedError) as refused:
        scope_of(wanted, number_given=number_given)
    assert (refused.value.refusal, refused.value.field) == (Refusal.KEY_SCOPE_INVALID, "scope")


@pytest.mark.parametrize(
    "number",
    [None, replace(NUMBER, deleted_at=NOW), replace(NUMBER, tenant_id=uuid7())],
    ids=["none", "gone", "foreign"],
)
def test_a_key_is_bound_to_a_number_of_its_own_tenant_or_of_the_platform(number: Number | None) -> None:
    check_belongs(NUMBER, tenant_id=TENANT_ID)
    check_belongs(replace(NUMBER, tenant_id=TENANT_ID), tenant_id=TENANT_ID)
    with pytest.raises(RefusedError) as refused:
        check_belongs(number, tenant_id=TENANT_ID)
    assert (refused.value.refusal, refused.value.field) == (Refusal.NUMBER_NOT_FOUND, "numberId")


def test_a_tenant_key_sends_from_no_number() -> None:
    with pytest.raises(RefusedError) as refused:
        sending_number(replace(CALLER, scope=KeyScope.TENANT))
    assert refused.value.refusal is Refusal.TENANT_SCOPE_NOT_ALLOWED


def test_a_key_that_was_used_too_often_is_told_when_to_come_back() -> None:
    check_rate(0.0, per_minute=60)
    with pytest.raises(RefusedError) as refused:
        check_rate(0.2, per_minute=60)
    assert (refused.value.refusal, refused.value.extras) == (Refusal.RATE_LIMITED, {"retryAfterSeconds": 1})
