"""The order of statuses: whatever the order of reports, the same status is believed in the end."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.status import RANK, Progress, Status, advance, outranks

WITHOUT_CANCEL = [status for status in Status if status is not Status.CANCELED]
QUEUED = Progress(1, Status.QUEUED)


def fold(reports: list[Progress]) -> Progress:
    known = QUEUED
    for reported in reports:
        known = advance(known, reported)
    return known


def test_every_permutation_of_one_rounds_reports_ends_the_same() -> None:
    reports = [Progress(1, status) for status in WITHOUT_CANCEL]
    assert {fold(list(order)) for order in permutations(reports)} == {Progress(1, Status.READ)}


@given(st.lists(st.builds(Progress, st.integers(1, 3), st.sampled_from(WITHOUT_CANCEL)), max_size=8), st.randoms())
def test_repeats_and_disorder_change_nothing(reports: list[Progress], dice: object) -> None:
    shuffled = reports + reports
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(shuffled) == fold(reports) == max([QUEUED, *reports], key=lambda p: (p.round, RANK[p.status]))


@pytest.mark.parametrize(
    ("reports", "believed"),
    [
        (["READ", "DELIVERED", "SENT", "READ"], "READ"),
        (["FAILED", "SENT"], "FAILED"),
        (["FAILED", "DELIVERED"], "DELIVERED"),
        (["DISPATCHED", "READ"], "READ"),
        (["SENT", "DISPATCHED"], "SENT"),
    ],
)
def test_case_1_the_order_decides(reports: list[str], believed: str) -> None:
    assert fold([Progress(1, Status(report)) for report in reports]).status == Status(believed)


@pytest.mark.parametrize("known", [status for status in Status if status is not Status.QUEUED])
def test_canceled_is_reachable_from_queued_only(known: Status) -> None:
    assert advance(QUEUED, Progress(1, Status.CANCELED)).status is Status.CANCELED
    assert not outranks(Progress(1, Status.CANCELED), Progress(1, known))


@pytest.mark.parametrize("reported", list(Status))
def test_canceled_is_final_within_its_round(reported: Status) -> None:
    assert not outranks(Progress(1, reported), Progress(1, Status.CANCELED))
    assert outranks(Progress(2, Status.QUEUED), Progress(1, Status.CANCELED))


@pytest.mark.parametrize("status", list(Status))
def test_what_is_known_already_moves_nothing(status: Status) -> None:
    assert not outranks(Progress(1, status), Progress(1, status))
