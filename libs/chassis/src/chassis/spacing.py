"""Keeps batches apart while there is much to do: each carries more, and what a batch costs is paid less often."""

import time
from collections.abc import Callable
from typing import Final

COMPANY_MIN: Final = 4
"""A batch this large shows that more is coming; after a smaller one nobody is kept."""


class Spacing:
    """From one batch's beginning to the next are at least `seconds`, as long as batches have company."""

    def __init__(self, seconds: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._monotonic = seconds, monotonic
        self._next_at = 0.0

    def began(self, size: int) -> None:
        """A batch of `size` begins now."""
        self._next_at = self._monotonic() + self._seconds if size >= COMPANY_MIN else 0.0

    def pause_seconds(self) -> float:
        """How long the next batch should still wait for company; 0 if it need not."""
        return max(0.0, self._next_at - self._monotonic()) if self._next_at else 0.0
