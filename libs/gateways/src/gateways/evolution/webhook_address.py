"""The address that one number's webhooks are posted to: its name, and a secret that opens nothing but this number."""

import base64
import hmac
import re
from typing import Final
from urllib.parse import quote, unquote, urlsplit

ROOT: Final = "/webhooks/evolution"
TOKEN_CHARS_MIN: Final = 16

_INSTANCE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PURPOSE: Final = b"pilot-status webhook address v1\x00"


def number_secret(token: str, instance: str) -> str:
    """43 characters of base64url, an HMAC-SHA256 of the name under the token: it tells neither token nor a neighbour's.

    Changing the token changes every number's secret, and nothing has to be stored.
    """
    digest = hmac.digest(token.encode("utf-8", "surrogateescape"), _PURPOSE + instance.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def is_instance_name(name: str) -> bool:
    """Whether a path segment can be the name of a number."""
    return _INSTANCE.fullmatch(name) is not None


def own_path(token: str, instance: str) -> str:
    """`/webhooks/evolution/{instance}/{secret}`; raises `ValueError` for what is no name of a number."""
    if not is_instance_name(instance):
        raise ValueError("a number's name has 1 to 100 letters, digits, - and _")
    return f"{ROOT}/{instance}/{number_secret(token, instance)}"


def shared_url(base_url: str, token: str) -> str:
    """The address for a gateway that can be told only one; the token opens every number."""
    return f"{base_url.rstrip('/')}{ROOT}/{quote(token, safe='')}"


def own_url(shared: str, instance: str) -> str:
    """The number's own address at the place of a shared one; raises `ValueError` unless that is `shared_url`'s."""
    base_url, token = split_shared_url(shared)
    return f"{base_url}{own_path(token, instance)}"


def split_shared_url(shared: str) -> tuple[str, str]:
    """Base and token of `{base}/webhooks/evolution/{token}`; raises `ValueError`, which never holds the token."""
    base_url, found, rest = shared.rstrip("/").rpartition(f"{ROOT}/")
    token = unquote(rest)
    parts = urlsplit(base_url)
    if not found or "/" in rest or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"expected an address like https://host{ROOT}/<token>")
    if len(token) < TOKEN_CHARS_MIN:
        raise ValueError(f"expected a token of at least {TOKEN_CHARS_MIN} characters at the end")
    return base_url, token
