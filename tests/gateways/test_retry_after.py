"""Every way a server has been seen to write `Retry-After`."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.evolution.evidence import judge_reply
from gateways.evolution.reply import Reply
from gateways.evolution.retry_after import RETRY_AFTER_SECONDS_MAX, parse_retry_after
from gateways.port import NotSent

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("0.25", 0.25),
        ("-5", 0.0),
        ("Thu, 15 Jan 2026 12:00:30 GMT", 30.0),
        ("Thursday, 15-Jan-26 12:00:30 GMT", 30.0),
        ("Thu, 15 Jan 2026 12:00:30 -0000", 30.0),
        ("Thu, 15 Jan 2026 11:00:00 GMT", 0.0),
        ("999999999", RETRY_AFTER_SECONDS_MAX),
        ("Fri, 15 Jan 2100 12:00:00 GMT", RETRY_AFTER_SECONDS_MAX),
        ("9" * 64, RETRY_AFTER_SECONDS_MAX),
        ("-" + "9" * 64, 0.0),
        ("-0.5", 0.0),
        ("+3", 3.0),
        ("٣", None),
        (None, None),
        ("", None),
        ("soon", None),
        ("1e3", None),
        ("nan", None),
        ("inf", None),
        ("1,5", None),
        ("9" * 400, None),
        ("Thu, 99 Jan 2026 12:00:30 GMT", None),
    ],
)
def test_case_40_retry_after(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, now=NOW) == seconds
    answer = judge_reply(Reply(status=429, retry_after=value), now=NOW)
    assert isinstance(answer, NotSent)
    assert answer.retry_after_seconds == seconds


@given(st.text(max_size=80))
def test_case_40_retry_after_never_raises_and_stays_in_bounds(value: str) -> None:
    seconds = parse_retry_after(value, now=NOW)
    assert seconds is None or 0 <= seconds <= RETRY_AFTER_SECONDS_MAX
