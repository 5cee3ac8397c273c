"""The only place that reads the environment: what is said there wins over the stored profile."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What variables say; None where they say nothing."""

    profile: str | None
    url: str | None
    operator_key: str | None = field(repr=False)
    api_key: str | None = field(repr=False)
    config_home: Path

    @property
    def profiles_path(self) -> Path:
        """Where profiles are stored."""
        return self.config_home / "pilot" / "profiles.json"


def read_environment(given: Mapping[str, str] | None = None) -> Environment:
    """`PILOT_PROFILE`, `PILOT_URL`, `PILOT_OPERATOR_KEY`, `PILOT_API_KEY` and, for files, `XDG_CONFIG_HOME`."""
    variables = os.environ if given is None else given
    config_home = variables.get("XDG_CONFIG_HOME") or ""
    return Environment(
        profile=variables.get("PILOT_PROFILE") or None,
        url=variables.get("PILOT_URL") or None,
        operator_key=variables.get("PILOT_OPERATOR_KEY") or None,
        api_key=variables.get("PILOT_API_KEY") or None,
        config_home=Path(config_home) if Path(config_home).is_absolute() else Path.home() / ".config",
    )
