"""What the dispatcher must be told from outside."""

from datetime import timedelta

from pydantic import Field

from chassis.settings import ServiceSettings


class Settings(ServiceSettings):
    """One environment variable per field."""

    http_port: int = Field(default=8002, ge=0, le=65535)
    calls_max: int = Field(default=200, ge=1, le=5_000)
    call_patience_seconds: float = Field(default=5, gt=0, le=600)
    lease_seconds: float = Field(default=60, ge=1, le=3_600)
    absence_believed_after_seconds: float = Field(default=60, ge=1, le=3_600)
    resolve_within_seconds: float = Field(default=900, ge=2, le=86_400)
    gateway_connect_timeout_seconds: float = Field(default=2, gt=0, le=60)
    gateway_read_timeout_seconds: float = Field(default=20, gt=0, le=600)
    message_recovery_sla_ms: int = Field(default=600_000, ge=0, le=86_400_000)
    first_contact_failures_max: int = Field(default=3, ge=1, le=100)
    first_contact_failures_within_seconds: float = Field(default=600, ge=1, le=86_400)
    first_contact_hold_seconds: float = Field(default=86_400, ge=1, le=2_592_000)
    unacknowledged_sends_max: int = Field(default=30, ge=1, le=1_000)
    unacknowledged_of_last: int = Field(default=30, ge=1, le=1_000)
    unacknowledged_after_seconds: float = Field(default=600, ge=1, le=86_400)
    job_retention_days: float = Field(default=7, gt=0, le=365)
    contact_retention_days: float = Field(default=400, gt=0, le=3_650)

    @property
    def recovery_sla(self) -> timedelta | None:
        """How late a message may leave that fell due while nobody was at work; None if as late as its window allows."""
        return timedelta(milliseconds=self.message_recovery_sla_ms) or None
