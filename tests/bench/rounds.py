"""Runs contenders in turns, so that whatever else the machine does falls on all of them, and takes medians."""

import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence

Round = Callable[[], Awaitable[float]]
"""One round of one contender; its figure, for instance messages per second."""


async def interleaved(contenders: Mapping[str, Round], *, rounds: int) -> dict[str, float]:
    """The median figure of each contender; every second turn goes the other way round."""
    figures: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds):
        names = list(contenders)
        for name in names if turn % 2 == 0 else reversed(names):
            figures[name].append(await contenders[name]())
    return {name: statistics.median(values) for name, values in figures.items()}


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of all values lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
