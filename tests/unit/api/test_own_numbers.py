"""A client's numbers: who reaches which, what a change does, and how long a deleted one stays."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from api.access.domain import Caller, KeyScope
from api.numbers.domain import Number, PiiMode
from api.own_numbers.domain import (
    RESTORABLE,
    Change,
    changed,
    check_free,
    check_restorable,
    effective,
    links,
    may_change,
    phone_digits,
    reach,
    restorable_until,
    tenant_only,
)
from api.refusals import Refusal, RefusedError
from contracts.ids import uuid7

from .people import CALLER, NOW, NUMBER

OWNER = replace(CALLER, scope=KeyScope.NUMBER)
TENANT = replace(CALLER, scope=KeyScope.TENANT, number=None)


def refusal_of(raised: pytest.ExceptionInfo[RefusedError]) -> Refusal:
    return raised.value.refusal


@pytest.mark.parametrize(
    "written", ["5511970000001", "+5511970000001", "+55 (11) 97000-0001", "55.11.97000.0001", " 5511970000001 "]
)
def test_a_phone_number_is_taken_as_people_write_it(written: str) -> None:
    assert phone_digits(written) == "5511970000001"


@pytest.mark.parametrize("written", ["", "+", "0055119700", "123456789", "1" * 16, "55119700000a1", "++5511970000001"])
def test_anything_else_is_refused_by_name(written: str) -> None:
    with pytest.raises(RefusedError) as raised:
        phone_digits(written)
    assert (refusal_of(raised), raised.value.field) == (Refusal.PHONE_INVALID, "number")


def test_only_a_numbers_key_is_confined_to_its_number() -> None:
    assert reach(OWNER) == NUMBER.number_id
    assert reach(OWNER, NUMBER.number_id) == NUMBER.number_id
    for caller in (CALLER, TENANT):
        assert reach(caller) is None
        assert reach(caller, uuid7()) is None
    for caller, wanted in ((OWNER, uuid7()), (replace(OWNER, number=None), None)):
        with pytest.raises(RefusedError) as raised:
            reach(caller, wanted)
        assert refusal_of(raised) is Refusal.NUMBER_NOT_FOUND


def test_who_may_change_and_who_may_pay() -> None:
    may_change(OWNER)
    may_change(TENANT)
    tenant_only(TENANT)
    for check, caller in ((may_change, CALLER), (tenant_only, CALLER), (tenant_only, OWNER)):
        with pytest.raises(RefusedError) as raised:
            check(caller)
        assert refusal_of(raised) is Refusal.NUMBER_SCOPE_NOT_ALLOWED


@pytest.mark.parametrize(
    ("caller", "wanted", "linked"),
    [
        (OWNER, None, True),
        (OWNER, False, False),
        (CALLER, None, False),
        (CALLER, True, True),
        (TENANT, None, False),
        (TENANT, True, False),
    ],
)
def test_which_key_moves_to_the_number_it_creates(caller: Caller, wanted: bool | None, linked: bool) -> None:
    assert links(caller, wanted) is linked


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ((PiiMode.STORE_INDEFINITE, None), Change(pii_mode=PiiMode.RELAY_ONLY), (PiiMode.RELAY_ONLY, None)),
        (
            (PiiMode.STORE_INDEFINITE, None),
            Change(pii_mode=PiiMode.STORE_X_DAYS, pii_retention_days=30),
            (PiiMode.STORE_X_DAYS, 30),
        ),
        ((PiiMode.STORE_X_DAYS, 30), Change(pii_retention_days=7), (PiiMode.STORE_X_DAYS, 7)),
        ((PiiMode.STORE_X_DAYS, 30), Change(settings={"rejectCall": True}), (PiiMode.STORE_X_DAYS, 30)),
        ((PiiMode.STORE_X_DAYS, 30), Change(pii_mode=PiiMode.RELAY_ONLY), (PiiMode.RELAY_ONLY, None)),
        (
            (PiiMode.STORE_INDEFINITE, None),
            Change(pii_mode=PiiMode.RELAY_ONLY, pii_retention_days=9),
            (PiiMode.RELAY_ONLY, None),
        ),
    ],
)
def test_days_belong_to_one_mode(
    before: tuple[PiiMode, int | None], change: Change, after: tuple[PiiMode, int | None]
) -> None:
    result = changed(replace(NUMBER, pii_mode=before[0], pii_retention_days=before[1]), change)
    assert (result.pii_mode, result.pii_retention_days) == after


def test_the_mode_needs_its_days_each_time_it_is_named() -> None:
    keeps = replace(NUMBER, pii_mode=PiiMode.STORE_X_DAYS, pii_retention_days=30)
    for number in (NUMBER, keeps):
        with pytest.raises(RefusedError) as raised:
            changed(number, Change(pii_mode=PiiMode.STORE_X_DAYS))
        assert (refusal_of(raised), raised.value.field) == (Refusal.PII_RETENTION_INVALID, "piiRetentionDays")


def test_a_change_of_nothing_is_refused() -> None:
    with pytest.raises(RefusedError) as raised:
        changed(NUMBER, Change())
    assert refusal_of(raised) is Refusal.EMPTY_PATCH


def test_settings_are_merged_and_null_resets() -> None:
    once = changed(NUMBER, Change(settings={"rejectCall": False, "markReadOnSend": False}))
    twice = changed(once, Change(settings={"rejectCall": None, "ignoreGroups": True}))
    assert twice.settings == {"markReadOnSend": False, "ignoreGroups": True}
    shown = effective(twice.settings)
    assert (shown["rejectCall"], shown["ignoreGroups"], shown["markReadOnSend"]) == (None, True, False)
    assert shown["historyImportEnabled"] is True


def test_a_deleted_number_blocks_its_phone_and_can_be_restored_for_thirty_days() -> None:
    deleted = replace(NUMBER, deleted_at=NOW)
    check_free(None)
    for number, refusal in ((NUMBER, Refusal.NUMBER_ALREADY_EXISTS), (deleted, Refusal.NUMBER_SOFT_DELETED)):
        with pytest.raises(RefusedError) as raised:
            check_free(number)
        assert refusal_of(raised) is refusal
    assert restorable_until(NUMBER) is None
    assert restorable_until(deleted) == NOW + timedelta(days=30)
    assert check_restorable(deleted, NOW + RESTORABLE - timedelta(seconds=1)) == deleted
    cases: tuple[tuple[Number | None, datetime, Refusal], ...] = (
        (None, NOW, Refusal.NUMBER_NOT_FOUND),
        (NUMBER, NOW, Refusal.NUMBER_ALREADY_ACTIVE),
        (deleted, NOW + RESTORABLE, Refusal.NUMBER_NOT_FOUND),
    )
    for wanted, now, refusal in cases:
        with pytest.raises(RefusedError) as raised:
            check_restorable(wanted, now)
        assert refusal_of(raised) is refusal


def test_a_purge_is_told_with_a_version_of_its_own_and_without_who_it_was() -> None:
    removed, purged = NUMBER.removed(NOW, sealed_profile="x"), NUMBER.purged(NOW)
    assert (removed.purged, removed.version, removed.sealed_profile) == (False, NUMBER.version, "x")
    assert (purged.purged, purged.version, purged.sealed_profile) == (True, NUMBER.version + 1, None)
    assert replace(NUMBER, paused=True).configured(NOW, sealed_profile="x").paused is True
