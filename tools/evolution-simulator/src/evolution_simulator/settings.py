"""The simulator's settings, so that nothing else reads the environment or the command line."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class SimulatorSettings(BaseSettings):
    """Every field is `SIMULATOR_<NAME>` in the environment and `--<name>` on the command line."""

    model_config = SettingsConfigDict(env_prefix="SIMULATOR_", frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(default=18080, ge=0, le=65535)
    ledger: Path = Path("evolution-ledger.jsonl")
    api_key: str = Field(default="simulator-key", repr=False)
    instances: tuple[str, ...] = Field(default=(), repr=False, description="name:token, state open from the start")
    webhook: str | None = Field(default=None, description="default webhook URL of the instances given at start")
    server_url: str | None = None
    version: str = Field(default="2.3.7", pattern=r"^\d{1,4}\.\d{1,4}\.\d{1,4}\S*$", description="of the gateway")
    magic_numbers: bool = False
    seed: int = 1

    body_bytes_max: int = Field(default=136 * 1024 * 1024, ge=1)
    delay_seconds_max: float = Field(default=3600.0, ge=0)
    shutdown_seconds: int = Field(default=2, ge=1)

    server_ack_ms: int = Field(default=150, ge=0)
    delivery_ack_ms: int = Field(default=300, ge=0)
    read_ms: int = Field(default=600, ge=0)
    resume_receipts: bool = Field(
        default=True, description="after a restart WhatsApp still delivers what it had queued"
    )

    webhook_timeout_seconds: float = Field(default=30.0, gt=0)
    webhook_attempts_max: int = Field(default=10, ge=1)
    webhook_initial_delay_seconds: float = Field(default=5.0, ge=0)
    webhook_delay_seconds_max: float = Field(default=300.0, ge=0)
    webhook_jitter_factor: float = Field(default=0.2, ge=0, le=1)
    webhook_non_retryable_statuses: tuple[int, ...] = (400, 401, 403, 404, 422)
    webhook_connections_max: int = Field(default=500, ge=1)
    webhook_pending_max: int = Field(default=100_000, ge=1)

    ledger_batch_max: int = Field(default=1_000, ge=1)

    @model_validator(mode="after")
    def instances_name_a_token(self) -> "SimulatorSettings":
        if any(":" not in instance for instance in self.instances):
            raise ValueError("an instance is given as name:token")
        return self

    @property
    def takes_ids(self) -> bool:
        """From 2.4 on the caller may choose a message's id."""
        return self._is_new

    @property
    def shows_buttons(self) -> bool:
        """From 2.4 on buttons are sent so that phones show them."""
        return self._is_new

    @property
    def _is_new(self) -> bool:
        major, minor, *_ = self.version.split(".")
        return (int(major), int(minor)) >= (2, 4)

    @property
    def public_url(self) -> str:
        return self.server_url or f"http://{self.host}:{self.port}"


def settings_from(arguments: Sequence[str]) -> SimulatorSettings:
    """Read the environment, then `--settings JSON`, then single flags; the later wins."""
    parser = argparse.ArgumentParser(prog="evolution_simulator", description="A stand-in for Evolution API 2.3.7.")
    parser.add_argument("--settings", type=json.loads, default={}, metavar="JSON", help="any settings as one object")
    parser.add_argument("--instance", action="append", dest="instances", metavar="NAME:TOKEN")
    for name, field in SimulatorSettings.model_fields.items():
        if name == "instances":
            continue
        flag = f"--{name.replace('_', '-')}"
        kind: dict[str, Any] = {"action": argparse.BooleanOptionalAction} if field.annotation is bool else {}
        parser.add_argument(flag, dest=name, default=None, help=field.description, **kind)
    given = vars(parser.parse_args(arguments))
    whole = given.pop("settings")
    flags = {name: value for name, value in given.items() if value is not None}
    return SimulatorSettings(**{**whole, **flags})
