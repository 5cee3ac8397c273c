"""One pass over several lanes: within capacity, each within its room, and back in time for what is left."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from contracts.values import Category, Environment, Pace, PacingPolicy
from dispatcher.domain.claim_pass import DueLane, looks, next_look, take_turns
from dispatcher.domain.jobs import SealedAccess
from dispatcher.domain.lane_pace import fresh_pace
from dispatcher.domain.pacing import terms_of
from dispatcher.domain.rates import allowed_per_hour
from dispatcher.domain.turns import Head

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NO_GAP = Pace(min_ms=0, max_ms=0)
FAST = PacingPolicy(otp=NO_GAP, utility=NO_GAP, marketing=NO_GAP)
ACCESS = SealedAccess(number_id=uuid4(), sealed="sealed")


def lane(name: str, *, room: int = 1, policy: PacingPolicy = FAST, resumed: bool = False) -> DueLane:
    pace = fresh_pace(NOW - timedelta(hours=1))
    return DueLane(instance=name, access=ACCESS, terms=terms_of(policy), pace=pace, room=room, resumed=resumed)


def heads(count: int) -> list[Head]:
    return [
        Head(
            key=(UUID(int=number), 1),
            tenant_id=uuid4(),
            environment=Environment.LIVE,
            category=Category.UTILITY,
            urgent=False,
            cold=False,
            tag=float(number),
            due_at=NOW,
        )
        for number in range(count)
    ]


def test_nobody_looks_into_a_lane_without_room_and_it_sleeps_until_there_is_some() -> None:
    full, free = lane("full", room=0), lane("free", room=3)
    assert [(look.instance, look.depth) for look in looks([full, free], capacity=2)] == [("free", 2)]
    [turn, _] = take_turns([full, free], {}, capacity=2, now=NOW, dice=lambda: 0.5)
    assert (turn.turn.picks, turn.turn.wake_at) == ((), None)


def test_capacity_is_shared_in_order_and_what_is_left_over_comes_again_at_once() -> None:
    lanes = [lane("a", room=3), lane("b", room=3), lane("c", room=3)]
    turns = take_turns(lanes, {name: heads(3) for name in "abc"}, capacity=5, now=NOW, dice=lambda: 0.5)
    assert [(one.instance, len(one.turn.picks)) for one in turns] == [("a", 3), ("b", 2)], "the third is left alone"
    assert turns[0].turn.wake_at is None, "no room"
    assert turns[1].turn.wake_at == NOW, "room and work, but nobody to do it"


def test_a_lane_with_more_behind_its_heads_is_looked_at_again() -> None:
    [turn] = take_turns([lane("a", room=5)], {"a": heads(2)}, capacity=2, now=NOW, dice=lambda: 0.5)
    assert (len(turn.turn.picks), turn.turn.wake_at) == (2, NOW)


def test_a_resumed_lane_spends_nothing_it_saved_up() -> None:
    bursting = FAST.model_copy(update={"utility": Pace(min_ms=10_000, max_ms=10_000, burst=4)})
    for resumed, picked in ((False, 4), (True, 1)):
        rested = lane("a", room=9, policy=bursting, resumed=resumed)
        [turn] = take_turns([rested], {"a": heads(9)}, capacity=50, now=NOW, dice=lambda: 0.5)
        assert len(turn.turn.picks) == picked


def test_the_next_look_is_the_earliest_of_all() -> None:
    paced = FAST.model_copy(update={"utility": Pace(min_ms=10_000, max_ms=10_000)})
    waiting = lane("a", room=9, policy=paced, resumed=True)
    turns = take_turns([waiting], {"a": heads(0)}, capacity=1, now=NOW, dice=lambda: 0.5)
    assert next_look(turns, None, now=NOW) is None
    assert next_look(turns, NOW + timedelta(seconds=3), now=NOW) == NOW + timedelta(seconds=3)
    missed = take_turns([waiting], {"a": heads(1)}, capacity=1, now=NOW, dice=lambda: 0.5)
    assert next_look(missed, NOW + timedelta(seconds=3), now=NOW) == NOW, "who was picked is still there"


def test_what_a_policy_allows_in_an_hour() -> None:
    policy = PacingPolicy(
        otp=NO_GAP, utility=Pace(min_ms=6_000, max_ms=12_000), marketing=Pace(min_ms=0, max_ms=0, per_hour=9)
    )
    terms = terms_of(policy)
    allowed = [allowed_per_hour(terms, Environment.LIVE, category) for category in Category]
    assert allowed == [None, 400, 9]
