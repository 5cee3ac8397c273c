"""Tags share a lane between tenants by weight, whatever each of them has waiting."""

from collections import Counter
from dataclasses import replace
from itertools import product
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.values import Category, Environment
from dispatcher.domain.fairness import (
    RANK_OF_STREAM,
    RANKS,
    SLOT_OF_STREAM,
    SLOTS,
    STREAMS,
    rank_of,
    refunded,
    returning_tag,
    slot_index,
    stream_index,
    tags_for,
)

from .tag_vectors import TAG_VECTORS, TagVector
from .turning import MARKETING, NOW, OTP, SECOND, STEADY, UTILITY, Lane, gapless


@pytest.mark.parametrize("vector", TAG_VECTORS)
def test_tags_are_those_worked_out_by_hand(vector: TagVector) -> None:
    tags = tags_for(virtual=vector.virtual, finish=vector.finish, weights=vector.weights)
    assert tags.starts == pytest.approx(vector.starts, abs=1e-9)
    assert tags.finish == pytest.approx(vector.finish_after, abs=1e-9)


def test_every_rank_slot_key_and_stream_has_one_place() -> None:
    ranks = [rank_of(category, urgent=urgent) for category in Category for urgent in (True, False)]
    assert ranks == list(range(RANKS))
    assert {slot_index(*pair) for pair in product(Environment, Category)} == set(range(SLOTS))
    places = {}
    for category, urgent, environment, cold in product(Category, (True, False), Environment, (True, False)):
        rank = rank_of(category, urgent=urgent)
        stream = stream_index(rank, environment, cold=cold)
        places[stream] = (RANK_OF_STREAM[stream], SLOT_OF_STREAM[stream])
        assert places[stream] == (rank, slot_index(environment, category))
    assert sorted(places) == list(range(STREAMS))


def test_few_messages_beside_a_large_backlog_wait_for_their_turn_only() -> None:
    lane = Lane()
    lane.push(MARKETING, count=10_000, tenant=1)
    lane.run(sends=7)
    lane.push(MARKETING, count=10, tenant=2)
    sent = [one.head.tenant_id for one in lane.run(sends=30)]
    assert sent.count(UUID(int=2)) == 10


def test_weights_divide_the_lane() -> None:
    lane = Lane()
    lane.push(UTILITY, count=400, tenant=1, weight=3)
    lane.push(UTILITY, count=400, tenant=2, weight=1)
    sent = Counter(one.head.tenant_id.int for one in lane.run(sends=400))
    assert abs(sent[1] - 300) <= 1


def test_who_was_idle_has_saved_nothing_up() -> None:
    lane = Lane()
    lane.push(count=1, tenant=2)
    lane.push(count=400, tenant=1)
    lane.run(sends=300)
    lane.push(count=100, tenant=2)
    sent = [one.head.tenant_id.int for one in lane.run(sends=20)]
    assert abs(sent.count(1) - sent.count(2)) <= 1


def test_single_messages_of_many_tenants_move_virtual_time_too() -> None:
    lane = Lane(policy=gapless(), room=10)
    for tenant in range(10):
        lane.push(tenant=tenant)
    before = lane.pace.virtual
    lane.turn(NOW)
    lane.push(tenant=100)
    assert lane.pace.virtual[3] > before[3]
    assert lane.heads()[0].tag > before[3]


def test_a_message_that_comes_back_is_first_in_line_and_pays_once() -> None:
    lane = Lane()
    lane.push(count=20, tenant=1)
    lane.push(count=20, tenant=2)
    (held,) = lane.turn(NOW).picks
    lane.run(sends=6, begin=NOW + 5 * SECOND)
    stream = stream_index(3, Environment.LIVE, cold=False)
    tag = returning_tag(tag=held.tag, floor=lane.pace.floors[stream])
    lane.put(replace(held, tag=tag))
    (next_one,) = lane.run(sends=1, begin=NOW + 100 * SECOND)
    assert next_one.head.key == held.key


def test_turns_that_never_came_are_not_paid_for() -> None:
    tags = tags_for(virtual=5.0, finish=None, weights=[2] * 1_000)
    assert tags.finish == pytest.approx(505)
    assert refunded(finish=tags.finish, weights=[2] * 1_000) == pytest.approx(5.0)


@settings(deadline=None, max_examples=40)
@given(
    weights=st.lists(st.integers(1, 8), min_size=2, max_size=4),
    late=st.integers(0, 30),
)
def test_who_waits_throughout_gets_a_share_by_weight(weights: list[int], late: int) -> None:
    """Of any two tenants waiting throughout, service per weight differs by no more than one message of each."""
    lane = Lane(policy=gapless())
    for tenant, weight in enumerate(weights[1:], start=1):
        lane.push(count=120, tenant=tenant, weight=weight)
    served = Counter[int]()
    for _ in range(late):
        lane.turn(NOW)
    lane.push(count=120, tenant=0, weight=weights[0])
    for _ in range(100):
        (head,) = lane.turn(NOW).picks
        served[head.tenant_id.int] += 1
        shares = [(served[tenant] / weight, weight) for tenant, weight in enumerate(weights)]
        for one, other in product(shares, shares):
            assert abs(one[0] - other[0]) <= 1 / one[1] + 1 / other[1] + 1e-3


def test_the_order_is_category_then_urgency_then_tag() -> None:
    lane = Lane(policy=STEADY.model_copy(update={"min_share": None}))
    for category in (MARKETING, UTILITY, OTP):
        lane.push(category, tenant=1)
        lane.push(category, tenant=2, urgent=True)
    sent = [(one.head.category, one.head.urgent) for one in lane.run()]
    assert sent == [(category, urgent) for category in (OTP, UTILITY, MARKETING) for urgent in (True, False)]
