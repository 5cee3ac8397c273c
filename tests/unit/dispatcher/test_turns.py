"""Whose turn it is: what goes, what is let pass, what is suppressed, and when the lane deserves the next look."""

import itertools
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.values import Category, Environment, Pace, PacingPolicy
from dispatcher.domain.fairness import RANK_OF_STREAM, STREAMS, rank_of, stream_index
from dispatcher.domain.turns import heads_wanted

from .turning import MARKETING, MILLISECOND, NO_GAP, NOW, OTP, SECOND, STEADY, UTILITY, Lane, Sent, gapless, gaps

STRANGERS_WAIT = NOW + timedelta(hours=24)


def categories(sent: list[Sent]) -> list[Category]:
    return [one.head.category for one in sent]


def test_an_otp_behind_any_backlog_leaves_in_the_next_slot() -> None:
    lane = Lane(policy=PacingPolicy(), dice=lambda: 0.999)
    lane.push(MARKETING, count=10_000)
    lane.run(sends=3)
    lane.push(OTP)
    (sent,) = lane.run(sends=1)
    assert sent.head.category is OTP
    last_send = NOW + 2 * 46 * SECOND
    assert sent.at - last_send <= 3 * SECOND


def test_a_lower_category_gets_its_share_and_an_otp_waits_for_one_turn_of_it_only() -> None:
    lane = Lane(policy=STEADY.model_copy(update={"utility": STEADY.otp, "marketing": STEADY.otp}))
    for category in Category:
        lane.push(category, count=100)
    sent = categories(lane.run(sends=110))
    assert min(sent.count(UTILITY), sent.count(MARKETING)) >= 10
    assert sent.count(OTP) >= 85
    lower = [index for index, category in enumerate(sent[:100]) if category is not OTP]
    assert all(later - earlier > 1 for earlier, later in itertools.pairwise(lower))
    for category in (UTILITY, MARKETING):
        turns = [index for index, one in enumerate(sent) if one is category]
        assert all(later - earlier <= 12 for earlier, later in zip([-1, *turns], turns, strict=False))


def test_a_turn_of_the_minimum_share_costs_an_otp_one_gap_of_its_own() -> None:
    lane = Lane()
    lane.push(MARKETING)
    lane.push(OTP, count=30)
    sent = lane.run()
    turn = categories(sent).index(MARKETING)
    assert turn == 9
    assert sent[turn + 1].at - sent[turn - 1].at == 2 * SECOND


def test_without_a_minimum_share_the_lower_one_starves() -> None:
    lane = Lane(policy=STEADY.model_copy(update={"min_share": None}))
    lane.push(MARKETING)
    lane.push(OTP, count=30)
    assert categories(lane.run())[-1] is MARKETING


def test_who_cannot_go_is_not_passed_over() -> None:
    lane = Lane(policy=STEADY.model_copy(update={"marketing": Pace(min_ms=20_000, max_ms=20_000, per_hour=1)}))
    lane.push(MARKETING, count=2)
    lane.push(OTP, count=60)
    sent = categories(lane.run(sends=61))
    assert sent.count(MARKETING) == 1
    assert lane.pace.passed[2] == 0


def test_a_closed_stream_of_first_contacts_lets_others_pass() -> None:
    lane = Lane()
    lane.pace = lane.pace.__class__(
        gap_at=lane.pace.gap_at,
        hour_at=lane.pace.hour_at,
        day_at=lane.pace.day_at,
        cold_at=NOW,
        cold_until=STRANGERS_WAIT,
    )
    lane.push(count=3, cold=True)
    lane.push(count=3)
    sent = lane.run(sends=6)
    assert [one.head.cold for one in sent] == [False] * 3 + [True] * 3
    assert sent[3].at == STRANGERS_WAIT
    assert lane.turn(STRANGERS_WAIT).wake_at is None


def test_a_stranger_who_became_a_contact_passes_and_hides_nobody() -> None:
    lane = Lane(policy=gapless(first_contacts_per_day=1))
    lane.push(cold=True, count=2)
    lane.push(cold=True, known=True)
    lane.push(cold=True)
    (first,) = lane.turn(NOW).picks
    (contact,) = lane.turn(NOW).picks
    assert (first.known, contact.known) == (False, True)
    waiting = lane.heads()
    assert lane.pace.floors[stream_index(3, Environment.LIVE, cold=True)] <= min(head.tag for head in waiting)
    assert lane.turn(NOW).wake_at == NOW + timedelta(days=1)


def test_a_campaign_to_strangers_leaves_room_for_the_code_a_stranger_asked_for() -> None:
    lane = Lane(policy=gapless(first_contacts_per_day=100), room=1_000)
    lane.push(MARKETING, count=200, cold=True)
    assert len(lane.turn(NOW).picks) == 6
    lane.push(OTP, count=200, cold=True)
    assert [head.category for head in lane.turn(NOW).picks] == [OTP] * 5


def test_a_repetition_is_suppressed_without_using_a_slot() -> None:
    lane = Lane()
    lane.push(repeats=True)
    lane.push(count=2)
    turn = lane.turn(NOW)
    assert [head.repeats for head in turn.suppressed] == [True]
    assert [head.repeats for head in turn.picks] == [False]
    alone = Lane()
    alone.push(repeats=True)
    before = alone.pace
    turn = alone.turn(NOW)
    assert (len(turn.suppressed), turn.picks, turn.wake_at) == (1, (), None)
    assert (turn.pace.gap_at, turn.pace.passed) == (before.gap_at, before.passed)


def test_a_repetition_waits_for_its_turn_to_be_judged() -> None:
    lane = Lane()
    lane.push()
    lane.turn(NOW)
    lane.push(repeats=True)
    assert lane.turn(NOW + SECOND).suppressed == ()
    assert len(lane.turn(NOW + 5 * SECOND).suppressed) == 1


def test_a_lane_without_gaps_fills_its_room_and_no_more() -> None:
    lane = Lane(policy=gapless(), room=7)
    lane.push(OTP, count=3)
    lane.push(MARKETING, count=20)
    turn = lane.turn(NOW)
    assert [head.category for head in turn.picks] == [OTP] * 3 + [MARKETING] * 4
    assert turn.wake_at is None
    assert Lane(policy=gapless(), room=0).turn(NOW).wake_at is None


def test_what_the_caller_cannot_take_is_due_at_once() -> None:
    lane = Lane(policy=gapless(), room=7)
    lane.push(OTP, count=9)
    turn = lane.turn(NOW, capacity=2)
    assert (len(turn.picks), turn.wake_at) == (2, NOW)


def test_the_lane_wakes_for_what_was_not_read() -> None:
    lane = Lane(room=2)
    lane.push(UTILITY, count=2)
    assert lane.turn(NOW, depth=1).wake_at == NOW + 5 * SECOND
    (last,) = lane.heads()
    turn = lane.turn(NOW + 5 * SECOND, depth=2)
    assert (turn.picks, turn.wake_at) == ((last,), None)


@pytest.mark.parametrize(
    ("policy", "room", "wanted"),
    [
        (STEADY, 5, 1),
        (STEADY.model_copy(update={"otp": Pace(min_ms=100, max_ms=100, burst=3)}), 5, 3),
        (STEADY.model_copy(update={"otp": Pace(min_ms=100, max_ms=100, burst=30)}), 5, 5),
        (STEADY.model_copy(update={"otp": NO_GAP}), 5, 5),
    ],
)
def test_no_more_heads_are_read_than_one_turn_can_use(policy: PacingPolicy, room: int, wanted: int) -> None:
    lane = Lane(policy=policy, room=room)
    assert heads_wanted(lane.terms, room=room) == wanted
    lane.push(OTP, count=50)
    assert len(lane.turn(NOW + timedelta(hours=1)).picks) <= wanted


WAITING = st.tuples(
    st.sampled_from(Category), st.booleans(), st.sampled_from(Environment), st.booleans(), st.booleans(), st.booleans()
)
LIMITS = st.fixed_dictionaries(
    {"min_ms": st.integers(0, 3_000), "max_ms": st.integers(0, 3_000)},
    optional={"burst": st.integers(1, 4), "per_hour": st.integers(1, 30)},
)
POLICIES = st.builds(
    PacingPolicy,
    otp=LIMITS,
    utility=LIMITS,
    marketing=LIMITS,
    min_share=st.none() | st.integers(2, 5),
    first_contacts_per_day=st.none() | st.integers(1, 30),
)


@settings(deadline=None, max_examples=60)
@given(
    policy=POLICIES,
    waiting=st.lists(WAITING, min_size=1, max_size=25),
    room=st.integers(1, 4),
    dice=st.floats(0, 0.999),
)
def test_a_lane_wakes_exactly_when_somebody_may_go_and_everybody_goes_once(
    policy: PacingPolicy, waiting: list[tuple[Category, bool, Environment, bool, bool, bool]], room: int, dice: float
) -> None:
    lane = Lane(policy=policy, room=room, dice=lambda: dice)
    for number, (category, urgent, environment, cold, known, repeats) in enumerate(waiting):
        lane.push(
            category, urgent=urgent, environment=environment, cold=cold, known=known, repeats=repeats, tenant=number % 3
        )
    gone, now = 0, NOW
    while lane.heads():
        turn = lane.turn(now)
        gone += len(turn.picks) + len(turn.suppressed)
        assert turn.wake_at is not None or len(turn.picks) == room or not lane.heads()
        for stream in range(STREAMS):
            assert lane.pace.floors[stream] <= lane.pace.virtual[RANK_OF_STREAM[stream]]
        for head in lane.heads():
            stream = stream_index(rank_of(head.category, urgent=head.urgent), head.environment, cold=head.cold)
            assert lane.pace.floors[stream] <= head.tag
        if turn.wake_at is not None:
            assert turn.wake_at > now
            early = Lane(policy=policy, pace=lane.pace, room=room, streams={k: [*v] for k, v in lane.streams.items()})
            before = early.turn(turn.wake_at - MILLISECOND / 1_000)
            assert (before.picks, before.suppressed) == ((), ())
            now = turn.wake_at
    assert gone == len(waiting)


@settings(deadline=None, max_examples=60)
@given(
    policy=POLICIES,
    waiting=st.lists(WAITING, min_size=1, max_size=25),
    room=st.integers(1, 4),
    dice=st.floats(0, 0.999),
    ahead=st.integers(0, 3_000),
)
def test_who_is_picked_ahead_leaves_when_he_would_have_left_anyway(
    policy: PacingPolicy,
    waiting: list[tuple[Category, bool, Environment, bool, bool, bool]],
    room: int,
    dice: float,
    ahead: int,
) -> None:
    lanes = [Lane(policy=policy, room=room, dice=lambda: dice, ahead=ahead * MILLISECOND * times) for times in (0, 1)]
    for lane in lanes:
        for category, urgent, environment, cold, known, repeats in waiting:
            lane.push(category, urgent=urgent, environment=environment, cold=cold, known=known, repeats=repeats)
    plain, early = (lane.run() for lane in lanes)
    assert early == plain


def test_what_is_picked_ahead_leaves_on_time_however_long_the_pick_takes() -> None:
    gap, late = 200 * MILLISECOND, 80 * MILLISECOND
    largest = []
    for ahead in (timedelta(0), 100 * MILLISECOND):
        lateness = itertools.cycle([timedelta(0), late])
        lane = Lane(policy=STEADY.model_copy(update={"otp": Pace(min_ms=200, max_ms=200)}), room=2, ahead=ahead)
        lane.push(OTP, count=20)
        largest.append(max(gaps(lane.run(lateness=partial(next, lateness)))))
    assert largest == [gap + late, gap]


def test_no_more_than_the_next_one_is_picked_ahead() -> None:
    policy = STEADY.model_copy(update={"otp": Pace(min_ms=20, max_ms=20)})
    lane = Lane(policy=policy, room=4, ahead=100 * MILLISECOND)
    lane.push(OTP, count=5)
    first, second, third = lane.turn(NOW), lane.turn(NOW), lane.turn(NOW)
    assert [len(turn.picks) for turn in (first, second, third)] == [1, 1, 0]
    assert [turn.leaves_at for turn in (first, second)] == [NOW, NOW + 20 * MILLISECOND]
    assert third.wake_at == NOW + 20 * MILLISECOND
