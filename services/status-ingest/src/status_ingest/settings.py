"""What status-ingest must be told from outside."""

from pydantic import Field, SecretStr, field_validator

from chassis.settings import ServiceSettings, require_broker_url
from gateways.evolution.events import GLOBAL_EXCHANGE
from gateways.evolution.webhook_address import TOKEN_CHARS_MIN


class Settings(ServiceSettings):
    """`INGEST_TOKEN` holds the credentials the gateway may post with, comma separated so that one can be replaced."""

    ingest_token: SecretStr
    interpret_interval_seconds: float = Field(default=1.0, gt=0, le=60)
    gateway_amqp_url: SecretStr | None = None
    """The broker of the gateway's own publisher, as a second source of its events; without it there is none."""
    gateway_amqp_exchanges: str = Field(default=GLOBAL_EXCHANGE, max_length=10_000)
    """Comma separated: the gateway's global exchange, or an instance's name for each that publishes by itself."""
    gateway_amqp_queue: str = Field(default="pilot.status-ingest.gateway", min_length=1, max_length=255)
    raw_retention_hours: int = Field(default=24, ge=1, le=720)
    parked_retention_hours: int = Field(default=48, ge=24, le=720)
    correlation_retention_days: int = Field(default=30, ge=1, le=365)
    quarantine_retention_days: int = Field(default=30, ge=1, le=365)

    def tokens(self) -> tuple[str, ...]:
        """Every accepted credential."""
        return _split(self.ingest_token.get_secret_value())

    def exchanges(self) -> tuple[str, ...]:
        """Every exchange of the gateway's to be heard."""
        return _split(self.gateway_amqp_exchanges)

    @field_validator("gateway_amqp_url", mode="after")
    @classmethod
    def _broker(cls, value: SecretStr | None) -> SecretStr | None:
        return None if value is None else require_broker_url(value)

    @field_validator("ingest_token", mode="after")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        tokens = _split(value.get_secret_value())
        if not tokens or any(len(token) < TOKEN_CHARS_MIN for token in tokens):
            raise ValueError(f"expected tokens of at least {TOKEN_CHARS_MIN} characters, comma separated")
        return value


def _split(text: str) -> tuple[str, ...]:
    return tuple(token.strip() for token in text.split(",") if token.strip())
