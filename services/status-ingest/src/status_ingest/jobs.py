"""The loops status-ingest runs beside its doors."""

from chassis.loop import Loop
from status_ingest.usecases.forget_old import ForgetOld
from status_ingest.usecases.interpret_events import InterpretEvents

RETENTION_INTERVAL_SECONDS = 60.0
INTERPRET_LINGER_SECONDS = 0.02
"""Nobody waits for a receipt that long, and a transaction for each of them would be taken from the edge."""


def interpretation(interpret: InterpretEvents, *, interval_seconds: float) -> Loop:
    """Woken by each kept event; the interval is for what another replica left behind."""
    return Loop(
        "interpret-events",
        interpret.step,
        interval_seconds=interval_seconds,
        linger_seconds=INTERPRET_LINGER_SECONDS,
    )


def retention(forget: ForgetOld) -> Loop:
    """Deletes what is past its time."""
    return Loop("forget-old", forget.step, interval_seconds=RETENTION_INTERVAL_SECONDS)
