"""Fair-queueing tags worked out by hand, for the pure rule and for the statements that compute the same in SQL."""

from typing import NamedTuple


class TagVector(NamedTuple):
    """Messages of one tenant becoming ready together in one rank, and the tags they must get."""

    virtual: float
    finish: float | None
    weights: tuple[int, ...]
    starts: tuple[float, ...]
    finish_after: float


TAG_VECTORS = (
    TagVector(0.0, None, (1,), (0.0,), 1.0),
    TagVector(0.0, None, (1, 1, 1), (0.0, 1.0, 2.0), 3.0),
    TagVector(0.0, None, (4, 4), (0.0, 0.25), 0.5),
    TagVector(7.5, None, (2,), (7.5,), 8.0),
    TagVector(7.5, 3.0, (1, 1), (7.5, 8.5), 9.5),
    TagVector(7.5, 7.5, (1,), (7.5,), 8.5),
    TagVector(7.5, 100.25, (1, 2), (100.25, 101.25), 101.75),
    TagVector(2.0, 5.0, (1, 2, 4, 8), (5.0, 6.0, 6.5, 6.75), 6.875),
    TagVector(1_000_000.0, None, (1_000, 1_000), (1_000_000.0, 1_000_000.001), 1_000_000.002),
    TagVector(0.0, 0.1, (3, 3, 3), (0.1, 0.1 + 1 / 3, 0.1 + 2 / 3), 1.1),
)
"""Exact but for rounding in the last places: compare with a tolerance of 1e-9."""
