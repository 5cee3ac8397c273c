"""The loops status-ingest runs beside its doors."""

from chassis.loop import Loop
from status_ingest.usecases.forget_old import ForgetOld
from status_ingest.usecases.interpret_events import InterpretEvents

RETENTION_INTERVAL_SECONDS = 60.0


def interpretation(interpret: InterpretEvents, *, interval_seconds: float) -> Loop:
    """Woken by each kept event; the interval is for what another replica left behind."""
    return Loop("interpret-events", interpret.step, interval_seconds=interval_seconds)


def retention(forget: ForgetOld) -> Loop:
    """Deletes what is past its time."""
    return Loop("forget-old", forget.step, interval_seconds=RETENTION_INTERVAL_SECONDS)
