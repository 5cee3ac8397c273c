"""What the api reads from its environment."""

from pydantic import Field, SecretStr, field_validator

from chassis.settings import ServiceSettings
from gateways.evolution.webhook_address import split_shared_url


class Settings(ServiceSettings):
    """Settings of the api; see chassis.settings for those of every service."""

    operator_key: SecretStr
    """Opens /v1/admin."""
    ingest_url: str | None = Field(default=None, max_length=2_048)
    """Where gateways post their webhooks, the ingest token at its end. From it each number gets an address of its own,
    which is set at the gateway when the number is registered, created or connected."""
    gateway_url: str | None = Field(default=None, pattern=r"^https?://", max_length=2_048)
    gateway_api_key: SecretStr | None = None
    """Where numbers of clients are created, and the global key there; without them clients cannot create numbers."""
    accept_linger_ms: float = Field(default=1.0, ge=0, le=50)
    accept_batch_max: int = Field(default=200, ge=1, le=1_000)
    configuration_ttl_seconds: float = Field(default=2.0, ge=0, le=5)
    whatsapp_optin_validation_enabled: str = Field(default="enabled", max_length=20)
    """`disabled` lets LIVE sends from the platform's number pass without the recipient's consent."""
    audit_retention_days: int = Field(default=730, ge=30, le=36_500)
    """How long the log of operators' changes is kept; the database refuses less than 30 days."""
    forecast_ttl_seconds: float = Field(default=5.0, gt=0, le=60)
    """After this long the dispatcher is asked again how a number's lane is, by the next send over it."""
    books_interval_seconds: float = Field(default=60.0, ge=1, le=3_600)
    """How often the api's book of messages is held beside the reconciler's."""
    question_timeout_seconds: float = Field(default=3.0, gt=0, le=30)

    @field_validator("ingest_url", mode="after")
    @classmethod
    def _has_a_token(cls, value: str | None) -> str | None:
        if value is not None:
            split_shared_url(value)
        return value

    @property
    def opt_in_enabled(self) -> bool:
        """Whether consent is asked for; only a clear no turns it off."""
        return self.whatsapp_optin_validation_enabled.lower() not in ("disabled", "false", "0", "off", "no")
