"""A dead letter is understood as far as possible, and is never too strange to be filed."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.domain.dead_letters import BODY_BYTES_MAX, VALUE_CHARS_MAX, DeadLetter, dead_letter_of

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
EARLIER, LATER = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 6, 2, tzinfo=UTC)
STATEMENT_ID = "0197f7a0-0000-7000-8000-000000000001"
DEATHS = [
    {"queue": "api.messages", "reason": "delivery_limit", "count": 2, "time": LATER, "routing-keys": ["message.lost"]},
    {"queue": "api.messages", "reason": "rejected", "count": 1, "time": EARLIER, "routing-keys": ["message.lost"]},
]


def letter(*, body: bytes = b"{}", message_id: str | None = STATEMENT_ID, headers: object = None) -> DeadLetter:
    """A letter as the broker hands it over."""
    given_headers = headers if isinstance(headers, dict) else {"x-death": DEATHS}
    return dead_letter_of(
        body=body,
        message_id=message_id,
        type_name="message.lost.v1",
        routing_key="api.messages",
        headers=given_headers,
        now=NOW,
    )


def test_the_latest_death_counts_and_the_first_one_dates_it() -> None:
    found = letter()
    assert (found.origin_queue, found.reason, found.count) == ("api.messages", "delivery_limit", 2)
    assert (found.routing_key, found.first_died_at) == ("message.lost", EARLIER)
    assert found.statement_id == UUID(STATEMENT_ID)


def test_a_body_has_one_letter_in_each_queue_it_dies_in_however_often() -> None:
    assert letter().id == letter().id == letter(headers={"x-death": [{**DEATHS[0], "count": 3}]}).id
    others = [
        letter(headers={"x-death": [{**DEATHS[0], "queue": "notifier.messages"}]}),
        letter(message_id=None),
        letter(message_id=None, body=b"other"),
    ]
    assert len({letter().id, *(other.id for other in others)}) == 4


def test_without_a_history_it_is_filed_as_unknown() -> None:
    found = letter(headers={"x-death": "garbage"}, message_id="not-an-id")
    assert (found.origin_queue, found.reason, found.count) == ("unknown", "unknown", 1)
    assert (found.routing_key, found.first_died_at, found.statement_id) == ("api.messages", NOW, None)


def test_only_explaining_headers_are_kept_bounded_and_storable() -> None:
    found = letter(headers={"traceparent": "00-\x00\ud800" + "a" * 1_000, "x-delivery-count": 3, "to": "5547988776655"})
    assert found.headers["x-delivery-count"] == "3"
    assert len(found.headers["traceparent"]) == VALUE_CHARS_MAX
    assert not {"\x00", "\ud800"} & set(found.headers["traceparent"])
    assert set(found.headers) == {"traceparent", "x-delivery-count"}


def test_a_huge_body_is_cut_and_its_size_remembered() -> None:
    found = letter(body=b"x" * (BODY_BYTES_MAX + 5))
    assert (len(found.body), found.size_bytes) == (BODY_BYTES_MAX, BODY_BYTES_MAX + 5)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
HISTORY = st.lists(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("queue", "reason", "count", "time", "routing-keys"), JUNK)),
    max_size=3,
)


@given(st.binary(max_size=50), st.none() | st.text(max_size=50), st.fixed_dictionaries({"x-death": JUNK | HISTORY}))
def test_nothing_raises(body: bytes, message_id: str | None, headers: dict[str, object]) -> None:
    found = letter(body=body, message_id=message_id, headers=headers)
    assert found.first_died_at.tzinfo is not None
    assert "\x00" not in f"{found.origin_queue}{found.reason}{found.routing_key}"


@pytest.mark.parametrize("count", [2**31, -(2**40), True, "3"])
def test_a_count_no_column_holds_is_read_as_one(count: object) -> None:
    assert letter(headers={"x-death": [{"count": count}]}).count == 1
