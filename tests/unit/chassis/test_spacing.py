"""Batches keep apart only where there is company."""

import pytest

from chassis.spacing import COMPANY_MIN, Spacing


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def test_the_first_batch_need_not_wait() -> None:
    assert Spacing(10).pause_seconds() == 0


def test_after_a_batch_with_company_the_next_waits_for_the_rest_of_the_distance() -> None:
    clock = Hands()
    spacing = Spacing(10, monotonic=clock)
    spacing.began(COMPANY_MIN)
    assert spacing.pause_seconds() == pytest.approx(10)
    clock.seconds += 4
    assert spacing.pause_seconds() == pytest.approx(6)
    clock.seconds += 7
    assert spacing.pause_seconds() == 0


def test_after_a_small_batch_nobody_is_kept() -> None:
    spacing = Spacing(10, monotonic=Hands())
    spacing.began(COMPANY_MIN)
    spacing.began(COMPANY_MIN - 1)
    assert spacing.pause_seconds() == 0
