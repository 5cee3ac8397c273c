"""What the dispatcher must be told from outside."""

from pydantic import Field

from chassis.settings import ServiceSettings


class Settings(ServiceSettings):
    """One environment variable per field."""

    http_port: int = Field(default=8002, ge=0, le=65535)
    calls_max: int = Field(default=200, ge=1, le=5_000)
    lease_seconds: float = Field(default=60, ge=1, le=3_600)
    absence_believed_after_seconds: float = Field(default=60, ge=1, le=3_600)
    resolve_within_seconds: float = Field(default=900, ge=2, le=86_400)
    gateway_connect_timeout_seconds: float = Field(default=2, gt=0, le=60)
    gateway_read_timeout_seconds: float = Field(default=20, gt=0, le=600)
    job_retention_days: float = Field(default=7, gt=0, le=365)
