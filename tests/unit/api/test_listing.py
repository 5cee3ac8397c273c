"""Cursors that only open where they belong, and bounds in time as clients write them."""

import base64
import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.messages.domain.cursors import CURSOR_LENGTH_MAX, Position, read_cursor, write_cursor
from api.messages.domain.history import shown
from api.messages.domain.instants import Period, period
from api.messages.domain.listing import Filters, listing_key
from api.messages.domain.scope import Scope, scope_of
from api.messages.schemas.listing import ListQuery
from api.numbers.domain import PiiMode
from api.refusals import Refusal, RefusedError
from contracts.ids import uuid7
from contracts.status import Status
from contracts.values import Category, Environment

from .people import CALLER, NOW, NUMBER

POSITION = Position(accepted_at=datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC), message_id=uuid7())
SCOPE = scope_of(CALLER)


def prove(text: str) -> str:
    return hashlib.sha256(b"secret" + text.encode()).hexdigest()


def refusal_of(text: str, bound_to: str = "here") -> Refusal:
    with pytest.raises(RefusedError) as refused:
        read_cursor(text, bound_to=bound_to, prove=prove)
    return refused.value.refusal


@given(st.integers(min_value=-(10**15), max_value=10**16), st.uuids())
def test_a_cursor_reads_back(microseconds: int, message_id: UUID) -> None:
    accepted_at = NOW + timedelta(microseconds=microseconds)
    position = Position(accepted_at=accepted_at, message_id=message_id)
    text = write_cursor(position, bound_to="here", prove=prove)
    assert len(text) <= CURSOR_LENGTH_MAX
    assert read_cursor(text, bound_to="here", prove=prove) == position


def test_an_altered_cursor_is_refused() -> None:
    text = write_cursor(POSITION, bound_to="here", prove=prove)
    blob = bytearray(base64.urlsafe_b64decode(text + "=="))
    for place in range(len(blob)):
        altered = bytearray(blob)
        altered[place] ^= 1
        assert refusal_of(base64.urlsafe_b64encode(altered).decode().rstrip("=")) is Refusal.CURSOR_INVALID
    for nonsense in ("", "x", "é", text[:-1], text + "A", text[:20], "=" * 54, "A" * 54):
        assert refusal_of(nonsense) is Refusal.CURSOR_INVALID


def test_a_cursor_belongs_to_its_filters_and_its_caller() -> None:
    filters = Filters(statuses=frozenset({Status.FAILED, Status.CANCELED}))
    text = write_cursor(POSITION, bound_to=listing_key(filters, SCOPE), prove=prove)
    same = Filters(statuses=frozenset({Status.CANCELED, Status.FAILED}))
    assert read_cursor(text, bound_to=listing_key(same, SCOPE), prove=prove) == POSITION
    others: list[tuple[Filters, Scope]] = [
        (Filters(), SCOPE),
        (replace(filters, statuses=frozenset({Status.FAILED})), SCOPE),
        (replace(filters, category=Category.OTP), SCOPE),
        (replace(filters, environment=Environment.LIVE), SCOPE),
        (replace(filters, accepted=Period(start=NOW)), SCOPE),
        (replace(filters, recipient_hash="a"), SCOPE),
        (replace(filters, label="a"), SCOPE),
        (replace(filters, template="a"), SCOPE),
        (replace(filters, number_id=uuid7()), SCOPE),
        (filters, replace(SCOPE, tenant_id=uuid7())),
        (filters, replace(SCOPE, project_id=uuid7())),
        (filters, replace(SCOPE, number_id=uuid7())),
        (filters, replace(SCOPE, environment=Environment.TEST)),
    ]
    for other, scope in others:
        assert refusal_of(text, listing_key(other, scope)) is Refusal.CURSOR_INVALID


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T09:00:00Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("2026-01-31T09:00Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("2026-01-31t09:00:00.123456789z", datetime(2026, 1, 31, 9, 0, 0, 123456, tzinfo=UTC)),
        ("2026-01-31T09:00:00-03:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T09:00:00+03:00", datetime(2026, 1, 31, 6, tzinfo=UTC)),
        ("2026-01-31T09:00:00 03:00", datetime(2026, 1, 31, 6, tzinfo=UTC)),
    ],
)
def test_bounds_are_instants_or_days(text: str, expected: datetime) -> None:
    assert period(text, None, start_field="from", end_field="to").start == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-31T09:00:00",
        "1767225600",
        "2026-02-30",
        "2026-13-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "２０２６-01-31",
    ],
)
def test_anything_else_is_no_bound(text: str) -> None:
    with pytest.raises(RefusedError) as refused:
        period(None, text, start_field="from", end_field="to")
    assert (refused.value.refusal, refused.value.field) == (Refusal.INVALID_DATE_RANGE, "to")


def test_a_day_as_the_end_is_all_of_it_and_start_after_end_is_refused() -> None:
    whole = period("2026-01-31", "2026-01-31", start_field="from", end_field="to")
    assert whole.end == datetime(2026, 1, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    with pytest.raises(RefusedError) as refused:
        period("2026-02-01", "2026-01-31", start_field="from", end_field="to")
    assert refused.value.refusal is Refusal.INVALID_DATE_RANGE


def test_what_the_number_does_not_keep_is_not_shown() -> None:
    asked = Period(start=NOW - timedelta(days=40), end=NOW)
    assert shown(NUMBER, asked, now=NOW) == asked
    some_days = replace(NUMBER, pii_mode=PiiMode.STORE_X_DAYS, pii_retention_days=30)
    assert shown(some_days, asked, now=NOW) == Period(start=NOW - timedelta(days=30), end=NOW)
    assert shown(some_days, Period(), now=NOW) == Period(start=NOW - timedelta(days=30))
    recent = Period(start=NOW - timedelta(days=2))
    assert shown(some_days, recent, now=NOW) == recent
    assert shown(replace(NUMBER, pii_mode=PiiMode.RELAY_ONLY), asked, now=NOW) is None


def test_a_plus_that_was_not_encoded_is_still_a_plus() -> None:
    assert ListQuery(destination=" 5547991000000").phone() == "+5547991000000"
    assert ListQuery(destination="+5547991000000").phone() == "+5547991000000"
    assert ListQuery().phone() is None
