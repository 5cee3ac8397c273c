"""What the notifier must be told from outside; the only reader of its environment."""

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from chassis.settings import ServiceSettings

MINUTE, HOUR = 60.0, 3_600.0
PAUSES_SECONDS = (5.0, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""Between ten attempts: the Standard Webhooks example schedule, a good three days in all."""

RetrySeconds = Annotated[tuple[Annotated[float, Field(gt=0, le=604_800)], ...], NoDecode, Field(max_length=20)]


class Settings(ServiceSettings):
    """The notifier's environment. `WEBHOOK_RETRY_SECONDS` lists the pauses between attempts, separated by commas."""

    allow_private_endpoints: bool = False
    webhook_retry_seconds: RetrySeconds = PAUSES_SECONDS
    webhook_timeout_seconds: float = Field(default=10.0, gt=0, le=60)
    webhook_connect_timeout_seconds: float = Field(default=5.0, gt=0, le=60)
    webhook_calls_max: int = Field(default=200, ge=1, le=2_000)
    webhook_calls_per_tenant_max: int = Field(default=50, ge=1, le=2_000)
    webhook_calls_per_endpoint_max: int = Field(default=10, ge=1, le=100)
    webhook_lease_seconds: float = Field(default=30.0, gt=0, le=3_600)
    disconnect_confirmed_after_seconds: float = Field(default=30.0, gt=0, le=3_600)
    delivery_retention_days: int = Field(default=30, ge=1, le=365)

    @field_validator("webhook_lease_seconds", mode="after")
    @classmethod
    def _outlive_a_call(cls, value: float, info: ValidationInfo) -> float:
        if value <= info.data.get("webhook_timeout_seconds", 0.0):
            raise ValueError("must be longer than WEBHOOK_TIMEOUT_SECONDS")
        return value

    @field_validator("webhook_retry_seconds", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value
