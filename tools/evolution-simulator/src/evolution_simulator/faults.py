"""What is wrong with a number for a while beyond its connection, kept in the memory of this process."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """NOT_LOADED: in the database, not in memory yet. NEVER_CONNECTED: in memory, without a socket.

    ZOMBIE: the state is open and the socket dead.
    """

    NOT_LOADED = "not_loaded"
    NEVER_CONNECTED = "never_connected"
    ZOMBIE = "zombie"


@dataclass(slots=True)
class FaultBook:
    """Which number has which fault, for ever or until a moment; which are restricted to people they know."""

    monotonic: Callable[[], float] = time.monotonic
    _faults: dict[str, tuple[Fault, float]] = field(default_factory=dict)
    _restricted: set[str] = field(default_factory=set)

    def put(self, instance: str, fault: Fault | None, *, seconds: float | None = None) -> None:
        """A number has this fault instead of any other, or none."""
        if fault is None:
            self._faults.pop(instance, None)
        else:
            self._faults[instance] = fault, float("inf") if seconds is None else self.monotonic() + seconds

    def of(self, instance: str) -> Fault | None:
        """The fault a number has now."""
        fault, until = self._faults.get(instance, (None, 0.0))
        return fault if self.monotonic() < until else None

    def restrict(self, instance: str, *, restricted: bool) -> None:
        """WhatsApp lets a restricted number reach only those who have received from it before."""
        (self._restricted.add if restricted else self._restricted.discard)(instance)

    def is_restricted(self, instance: str) -> bool:
        """Whether first contacts of the number fail."""
        return instance in self._restricted

    def clear(self) -> None:
        """Nothing is wrong any more."""
        self._faults.clear()
        self._restricted.clear()
