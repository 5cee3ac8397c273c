"""The loops status-ingest runs beside its doors."""

from chassis.loop import Loop
from status_ingest.usecases.adopt_receipts import AdoptReceipts
from status_ingest.usecases.forget_old import ForgetOld
from status_ingest.usecases.interpret_events import InterpretEvents
from status_ingest.usecases.settle_connections import SettleConnections
from status_ingest.usecases.watch_silence import WatchSilence

RETENTION_INTERVAL_SECONDS = 60.0
INTERPRET_LINGER_SECONDS = 0.02
"""Nobody waits for a receipt that long, and a transaction for each of them would be taken from the edge."""
ADOPTION_INTERVAL_SECONDS = 2.0
SETTLING_INTERVAL_SECONDS = 3.0
WATCH_INTERVAL_SECONDS = 15.0


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


def adoption(adopt: AdoptReceipts) -> Loop:
    """Looks for the home of receipts without an instance."""
    return Loop("adopt-receipts", adopt.step, interval_seconds=ADOPTION_INTERVAL_SECONDS)


def settling(settle: SettleConnections) -> Loop:
    """Tells of drops that lasted."""
    return Loop("settle-connections", settle.step, interval_seconds=SETTLING_INTERVAL_SECONDS)


def watching(watch: WatchSilence) -> Loop:
    """Looks for numbers whose gateway has fallen silent."""
    return Loop("watch-silence", watch.step, interval_seconds=WATCH_INTERVAL_SECONDS)
