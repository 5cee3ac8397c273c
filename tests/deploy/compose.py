"""Reads docker-compose.yml with the example environment filled in."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
EXAMPLE = ROOT / "deploy" / "compose.env.example"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text())

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[?-])(?P<rest>[^}]*))?\}")


def example_values() -> dict[str, str]:
    lines = [line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def variables_used() -> set[str]:
    return {match["name"] for match in _VARIABLE.finditer(FILE.read_text())}


def environment_of_service(name: str) -> dict[str, str]:
    values = example_values()
    environment = COMPOSE["services"][name]["environment"]
    return {key: _VARIABLE.sub(lambda match: values[match["name"]], value) for key, value in environment.items()}
