"""What every service must be told from outside; the only reader of the environment."""

from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.seal import InvalidKeyError, KeyRing, Pepper

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

_DATABASE_SCHEMES = frozenset({"postgres", "postgresql", "postgresql+asyncpg"})
_BROKER_SCHEMES = frozenset({"amqp", "amqps"})


class SettingsError(Exception):
    """The environment is incomplete or wrong; names each variable, never its value."""


class ServiceSettings(BaseSettings):
    """Base of a service's settings: one environment variable per field, named like it, in any case."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True, populate_by_name=True
    )

    database_url: SecretStr
    broker_url: SecretStr
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8000, ge=0, le=65535)
    log_level: LogLevel = "INFO"
    pool_size: int = Field(default=10, ge=1, le=200)
    seal_keys: SecretStr | None = None
    seal_pepper: SecretStr | None = None
    otlp_endpoint: str | None = Field(default=None, validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    trace_sample_ratio: float = Field(default=0.1, ge=0, le=1)
    shutdown_timeout_seconds: float = Field(default=25.0, gt=0, le=600)

    @classmethod
    def load(cls, **values: Any) -> Self:
        """Read the environment, `values` first; raises `SettingsError` naming every wrong variable at once."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise SettingsError(_explain(cls, error)) from None

    def key_ring(self) -> KeyRing:
        """The ring of `SEAL_KEYS`; raises `SettingsError` if the variable is not set."""
        if self.seal_keys is None:
            raise SettingsError("SEAL_KEYS is missing")
        return KeyRing.parse(self.seal_keys.get_secret_value())

    def pepper(self) -> Pepper:
        """The pepper of `SEAL_PEPPER`; raises `SettingsError` if the variable is not set."""
        if self.seal_pepper is None:
            raise SettingsError("SEAL_PEPPER is missing")
        return Pepper.parse(self.seal_pepper.get_secret_value())

    @field_validator("database_url", mode="after")
    @classmethod
    def _database_scheme(cls, value: SecretStr) -> SecretStr:
        return _require_scheme(value, _DATABASE_SCHEMES, expected="postgresql://user@host/database")

    @field_validator("broker_url", mode="after")
    @classmethod
    def _broker_scheme(cls, value: SecretStr) -> SecretStr:
        return require_broker_url(value)

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper_case(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("seal_keys", mode="after")
    @classmethod
    def _readable_keys(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            _refuse_unreadable(KeyRing, value)
        return value

    @field_validator("seal_pepper", mode="after")
    @classmethod
    def _readable_pepper(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            _refuse_unreadable(Pepper, value)
        return value


def require_broker_url(value: SecretStr) -> SecretStr:
    """For a field's validator: raises `ValueError` unless it is the address of a RabbitMQ."""
    return _require_scheme(value, _BROKER_SCHEMES, expected="amqp://user@host/vhost")


def _require_scheme(value: SecretStr, schemes: frozenset[str], *, expected: str) -> SecretStr:
    try:
        parts = urlsplit(value.get_secret_value())
        complete = parts.scheme in schemes and (parts.hostname or parts.query or parts.path) and parts.port != 0
    except ValueError:
        complete = False
    if not complete:
        raise ValueError(f"expected an address like {expected}")
    return value


def _refuse_unreadable(kind: type[KeyRing] | type[Pepper], value: SecretStr) -> None:
    try:
        kind.parse(value.get_secret_value())
    except InvalidKeyError as error:
        raise ValueError(str(error)) from None


def _explain(settings: type[ServiceSettings], error: ValidationError) -> str:
    problems: list[str] = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        location = str(item["loc"][0]) if item["loc"] else "settings"
        name = _variable(location, settings.model_fields.get(location))
        message = item["msg"].removeprefix("Value error, ")
        problems.append(f"{name} is missing" if item["type"] == "missing" else f"{name}: {message}")
    return "; ".join(problems)


def _variable(location: str, info: FieldInfo | None) -> str:
    alias = info.validation_alias if info is not None else None
    return (alias if isinstance(alias, str) else location).upper()
