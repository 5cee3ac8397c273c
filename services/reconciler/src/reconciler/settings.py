"""What the reconciler must be told from outside."""

from datetime import timedelta

from pydantic import Field

from chassis.settings import ServiceSettings


class Settings(ServiceSettings):
    """A recovery SLA of 0 switches verdicts off: what nobody works is then only put back, again and again."""

    message_reconciler_interval_ms: int = Field(default=60_000, ge=100, le=3_600_000)
    message_recovery_sla_ms: int = Field(default=600_000, ge=0, le=86_400_000)
    ack_grace_seconds: int = Field(default=1_800, ge=1, le=604_800)
    message_age_max_hours: int = Field(default=168, ge=1, le=8_760)
    evidence_grace_seconds: float = Field(default=30.0, gt=0, le=3_600)
    ledger_retention_hours: int = Field(default=168, ge=1, le=8_760)
    dead_letter_retention_days: int = Field(default=30, ge=1, le=365)

    @property
    def interval(self) -> timedelta:
        """Between two passes."""
        return timedelta(milliseconds=self.message_reconciler_interval_ms)

    @property
    def recovery_sla(self) -> timedelta | None:
        """How long after its deadline an unworked message may wait for its verdict; None if there are no verdicts."""
        return timedelta(milliseconds=self.message_recovery_sla_ms) or None
