"""Tells everybody when a number's connection changed, and the operators when somebody should look into a number."""

from collections.abc import Iterable

from chassis.database import Transaction
from chassis.telemetry.logs import get_logger
from dispatcher.domain.health import Alert, alert_of
from dispatcher.domain.lanes import Connection, announcement
from dispatcher.usecases.measures import CONNECTION_CHANGES, LANE_ALERTS

logger = get_logger(__name__)


def announce(tx: Transaction, changes: Iterable[tuple[Connection, Connection]]) -> None:
    """Each lane as it was and as it is: news once, alerts counted."""
    for before, after in changes:
        news = announcement(before, after)
        if news is not None:
            CONNECTION_CHANGES.labels(state=news.state.value).inc()
            tx.emit(news)
        alert = alert_of(before, after)
        if alert is not None:
            raise_alert(alert, after.instance)


def raise_alert(alert: Alert, instance: str) -> None:
    """Count it and say which number it is about."""
    LANE_ALERTS.labels(kind=alert.value).inc()
    logger.warning(f"lane_alert_{alert.value}", instance=instance)
