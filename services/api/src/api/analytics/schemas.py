"""The dashboard's query and body, as the published contract has them."""

from typing import Any

from pydantic import Field

from api.analytics.domain import Dashboard, Length
from api.schemas import Body


class DashboardQuery(Body):
    """`timezone` is another name for `tz`."""

    period: Length = Length.MONTH
    tz: str | None = Field(default=None, max_length=64)
    timezone: str | None = Field(default=None, max_length=64)

    def zone_name(self) -> str:
        """The IANA zone whose days are shown."""
        return self.tz if self.tz is not None else self.timezone if self.timezone is not None else "UTC"


def dashboard_body(shown: Dashboard) -> dict[str, Any]:
    """Integers for counts, percentages with two decimals."""
    return {
        "totalSent": shown.total_sent,
        "totalFailed": shown.total_failed,
        "sentPercentChange": shown.sent_percent_change,
        "failedPercentChange": shown.failed_percent_change,
        "failureRate": shown.failure_rate,
        "dailyMessages": [{"date": day.isoformat(), "count": count} for day, count in shown.daily],
        "statusDistribution": dict(shown.distribution),
    }
