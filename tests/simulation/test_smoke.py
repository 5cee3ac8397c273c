"""A day of traffic in virtual time keeps every promise, and is the same each time."""

from itertools import pairwise

import pytest

from contracts.values import Category

from .__main__ import report
from .lanes import Size, run
from .measures import Journal, fullest

SMALL = Size(tenants=60, messages=18_000, lanes=3, days=1, seed=7)


@pytest.fixture(scope="module")
def journals() -> list[Journal]:
    return list(run(SMALL))


def test_every_message_is_sent_or_expires(journals: list[Journal]) -> None:
    for journal in journals:
        sent = sum(len(waits) for waits in journal.waits.values())
        assert sent + journal.expired.total() == SMALL.messages // SMALL.lanes
        assert journal.late == 0
    assert any(journal.expired for journal in journals), "there was no congestion"


def test_shares_gaps_and_caps_hold(journals: list[Journal]) -> None:
    assert sum(journal.shares.windows for journal in journals) > 0, "no two tenants ever waited beside each other"
    for journal in journals:
        assert journal.gap_margin_min() >= 0
        assert journal.cap_use_max() <= 1
        if not journal.profile.policy.first_contacts_per_day:
            assert journal.shares.deviation_max <= 2


def test_codes_are_not_held_up_by_campaigns(journals: list[Journal]) -> None:
    for journal in journals:
        assert journal.expired[Category.OTP] == 0


def test_the_same_seed_gives_the_same_run() -> None:
    first, second, other = (
        list(report(list(run(Size(tenants=30, messages=900, lanes=3, days=1, seed=seed))))) for seed in (1, 1, 2)
    )
    assert first == second != other


def test_the_judges_see_a_breach(journals: list[Journal]) -> None:
    journal = journals[0]
    instants = next(iter(journal.sent.values()))
    step = min(later - earlier for earlier, later in pairwise(instants))
    assert fullest(instants, step) == 1
    assert fullest(instants, step * 1.001) == 2
    crowded = Journal(profile=journal.profile)
    for key, times in journal.sent.items():
        crowded.sent[key] = sorted([*times, times[0]])
    assert crowded.gap_margin_min() < 0
    uneven = Journal(profile=journal.profile).shares
    for _ in range(300):
        uneven.came(0, 1)
        uneven.came(0, 2)
    for _ in range(400):
        uneven.came(0, 1)
        uneven.went(0, 1)
    assert uneven.deviation_max > 2
