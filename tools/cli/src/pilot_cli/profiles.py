"""Profiles: which platform, with which keys; in one file that nobody else can read."""

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pilot_cli.failures import Exit, Failure
from pilot_cli.settings import Environment

DEFAULT = "default"
FILE_MODE = 0o600
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An address and up to two keys: the operator's, and a customer's for what only customers do."""

    url: str
    operator_key: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """All of them; `current` is used when none is named."""

    current: str = DEFAULT
    known: Mapping[str, Profile] = field(default_factory=dict)

    def with_profile(self, name: str, profile: Profile) -> "Profiles":
        """It becomes the current one."""
        return Profiles(current=name, known={**self.known, name: profile})

    def without(self, name: str) -> "Profiles":
        """What is left; raises `Failure` if there is no such profile."""
        self.must_have(name)
        return replace(self, known={other: profile for other, profile in self.known.items() if other != name})

    def must_have(self, name: str) -> Profile:
        """Raises `Failure` if there is no such profile."""
        if name not in self.known:
            known = ", ".join(sorted(self.known)) or "none"
            raise Failure(Exit.USAGE, f"There is no profile {name!r} (known: {known}); `pilot login` makes one.")
        return self.known[name]


def check_name(name: str) -> str:
    """Raises `Failure` for what cannot name a profile."""
    if _NAME.fullmatch(name) is None:
        raise Failure(Exit.USAGE, "A profile's name has letters, digits, dots, dashes and underscores, at most 64.")
    return name


def check_url(url: str) -> SplitResult:
    """The parts of an API's address; raises `Failure` for anything else."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and url.isprintable()
    except ValueError:
        usable = None
    if not usable or parts.username or parts.query or parts.fragment:
        raise Failure(Exit.USAGE, "The platform's address must look like https://api.example.com.")
    return parts


def load(path: Path) -> Profiles:
    """Empty if there is no file; raises `Failure` if others may read it or it cannot be understood."""
    try:
        text = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        raise Failure(Exit.FAILED, f"{path} cannot be read: {error.strerror}.") from None
    if mode & 0o077:
        raise Failure(Exit.USAGE, f"{path} holds keys and others may read it; `chmod 600 {path}` first.")
    try:
        stored = json.loads(text)
        return Profiles(current=str(stored["current"]), known={k: _profile(v) for k, v in stored["profiles"].items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Failure(Exit.USAGE, f"{path} is not a file of profiles; move it away and log in again.") from None


def save(path: Path, profiles: Profiles) -> None:
    """Replaced as a whole, readable by its owner alone from the first byte on."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = {name: asdict(profile) for name, profile in sorted(profiles.known.items())}
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".profiles-")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"current": profiles.current, "profiles": known}, file, indent=2)
        Path(name).chmod(FILE_MODE)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def chosen(environment: Environment, profiles: Profiles, named: str | None) -> Profile:
    """What holds: variables over the profile that is named, by option, by variable, or as the current one."""
    name = named or environment.profile
    stored = profiles.must_have(name) if name else profiles.known.get(profiles.current)
    url = environment.url or (stored.url if stored else None)
    if url is None:
        raise Failure(Exit.USAGE, "Which platform? `pilot login` stores its address and keys, or set PILOT_URL.")
    # A key is for the platform it was given for: another address without another key gets none.
    keys = stored if stored and stored.url == url else None
    return Profile(
        url=url,
        operator_key=environment.operator_key or (keys.operator_key if keys else None),
        api_key=environment.api_key or (keys.api_key if keys else None),
    )


def _profile(stored: Mapping[str, Any]) -> Profile:
    return Profile(url=stored["url"], operator_key=stored.get("operator_key"), api_key=stored.get("api_key"))
