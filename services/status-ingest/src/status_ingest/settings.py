"""What status-ingest must be told from outside."""

from pydantic import Field, SecretStr, field_validator

from chassis.settings import ServiceSettings

TOKEN_CHARS_MIN = 16


class Settings(ServiceSettings):
    """`INGEST_TOKEN` holds the credentials the gateway may post with, comma separated so that one can be replaced."""

    ingest_token: SecretStr
    interpret_interval_seconds: float = Field(default=1.0, gt=0, le=60)
    raw_retention_hours: int = Field(default=24, ge=1, le=720)
    parked_retention_hours: int = Field(default=48, ge=24, le=720)
    correlation_retention_days: int = Field(default=30, ge=1, le=365)
    quarantine_retention_days: int = Field(default=30, ge=1, le=365)

    def tokens(self) -> tuple[str, ...]:
        """Every accepted credential."""
        return _split(self.ingest_token.get_secret_value())

    @field_validator("ingest_token", mode="after")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        tokens = _split(value.get_secret_value())
        if not tokens or any(len(token) < TOKEN_CHARS_MIN for token in tokens):
            raise ValueError(f"expected tokens of at least {TOKEN_CHARS_MIN} characters, comma separated")
        return value


def _split(text: str) -> tuple[str, ...]:
    return tuple(token.strip() for token in text.split(",") if token.strip())
