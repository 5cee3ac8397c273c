"""What the checkout says about the services, to hold the deployment files against."""

import importlib
import re
from pathlib import Path

from chassis.settings import ServiceSettings

ROOT = Path(__file__).parents[2]

SERVICES = {
    folder.name: next(path.parent.name for path in folder.glob("src/*/__main__.py"))
    for folder in sorted((ROOT / "services").iterdir())
    if (folder / "pyproject.toml").exists()
}
"""Python package by name of the service."""

SIMULATOR, SIMULATOR_PACKAGE = "evolution-simulator", "evolution_simulator"


def settings_of(package: str) -> type[ServiceSettings]:
    settings: type[ServiceSettings] = importlib.import_module(f"{package}.settings").Settings
    assert issubclass(settings, ServiceSettings)
    return settings


def variables_of(settings: type[ServiceSettings]) -> dict[str, bool]:
    """Names of the environment variables that a service reads; True where it cannot start without."""
    return {
        (field.validation_alias if isinstance(field.validation_alias, str) else name).upper(): field.is_required()
        for name, field in settings.model_fields.items()
    }


def seals_used_by(service: str) -> set[str]:
    """Which of the seal's variables the code of a service asks for."""
    sources = "\n".join(path.read_text() for path in (ROOT / "services" / service / "src").rglob("*.py"))
    calls = {"SEAL_KEYS": r"\.key_ring\(\)", "SEAL_PEPPER": r"\.pepper\(\)"}
    return {variable for variable, call in calls.items() if re.search(call, sources)}
