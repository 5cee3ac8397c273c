"""What a webhook body must lose before anything keeps it: secrets, and text that a database refuses."""

import re
from collections.abc import Callable, Mapping

from gateways.evolution.events import canonical_event
from gateways.evolution.webhook_address import is_instance_name

_DEPTH_MAX = 64
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
# Compared without case, `_` and `-`. `destination` carries our own secret path; a QR code pairs whoever sees it.
_SECRET_NAMES = frozenset(
    {
        "apikey",
        "authorization",
        "base64",
        "destination",
        "hash",
        "headers",
        "jwtkey",
        "pairingcode",
        "password",
        "qrcode",
        "secret",
        "serverurl",
        "token",
    }
)


def strip_credentials(payload: object) -> object:
    """The payload without any key that names a credential or an address of ours or the gateway's, at any depth."""
    return _rebuild(payload, keep=lambda name: not _names_a_secret(name), text=lambda value: value)


def clean_texts(payload: object) -> object:
    """The payload with NUL and lone surrogates replaced by U+FFFD, in keys and values, at any depth."""
    return _rebuild(payload, keep=lambda _: True, text=clean_text)


def clean_text(value: str) -> str:
    """The text as a database can store it; a backslash-u0000 written out as six characters is left alone."""
    return _UNSTORABLE.sub(_REPLACEMENT, value)


def instance_of(payload: object, *, instance_hint: str | None = None) -> str | None:
    """The instance a payload speaks for, else the hint; None unless it is a name we would have given."""
    named = payload.get("instance") if isinstance(payload, Mapping) else None
    name = instance_hint if named is None else named
    return name if isinstance(name, str) and is_instance_name(name) else None


def speaks_for_another(payload: object, number: str) -> bool:
    """Whether a payload names an instance, and another one than `number`."""
    named = payload.get("instance") if isinstance(payload, Mapping) else None
    return named is not None and named != number


def labels_of(payload: object, *, instance_hint: str | None = None) -> tuple[str, str]:
    """Event and instance for metrics and logs, both bounded: `other`/`none` stand for anything unheard of."""
    event = payload.get("event") if isinstance(payload, Mapping) else None
    label = "none" if event is None else canonical_event(event) or "other"
    return label, instance_of(payload, instance_hint=instance_hint) or "none"


def _names_a_secret(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _SECRET_NAMES


def _rebuild(value: object, *, keep: Callable[[str], bool], text: Callable[[str], str], depth: int = 0) -> object:
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, dict | list):
        return value
    if depth >= _DEPTH_MAX:
        return None
    if isinstance(value, list):
        return [_rebuild(item, keep=keep, text=text, depth=depth + 1) for item in value]
    return {
        text(str(name)): _rebuild(item, keep=keep, text=text, depth=depth + 1)
        for name, item in value.items()
        if keep(str(name))
    }
