"""Recognises the gateway by a shared token, by one number's secret, or by what it signs with either."""

import base64
import binascii
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gateways.evolution.webhook_address import is_instance_name, number_secret

LEEWAY = timedelta(hours=1)
"""Evolution signs once, valid for 10 minutes, and then retries the same request for about 25 minutes."""

JWT_CHARS_MAX = 4_096


class Verdict(StrEnum):
    """What a credential is worth."""

    ACCEPTED = "accepted"
    EXPIRED = "expired"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What a post's credential is worth, and the one number it may speak for; None for the shared token, for all."""

    verdict: Verdict
    number: str | None = None


def recognise(address: Sequence[str], in_headers: Sequence[str], tokens: Sequence[str], *, now: datetime) -> Sender:
    """`address` is what follows `/webhooks/evolution`: `{token}…` or `{number}/{secret}…`; each may be in a header."""
    first, second = (*address[:2], "", "")[:2]
    shared = verify([first, *in_headers], tokens, now=now)
    if shared is Verdict.ACCEPTED or not is_instance_name(first):
        return Sender(verdict=shared)
    secrets = [number_secret(token, first) for token in tokens]
    own = verify([second, *in_headers], secrets, now=now)
    if own is Verdict.REFUSED:
        return Sender(verdict=shared)
    return Sender(verdict=own, number=first)


def verify(presented: Sequence[str], tokens: Sequence[str], *, now: datetime) -> Verdict:
    """The best verdict on any of the presented credentials; comparisons take the same time for every wrong one."""
    verdicts = [_verify_one(credential, token, now) for credential in presented if credential for token in tokens]
    return next((verdict for verdict in (Verdict.ACCEPTED, Verdict.EXPIRED) if verdict in verdicts), Verdict.REFUSED)


def _verify_one(credential: str, token: str, now: datetime) -> Verdict:
    if hmac.compare_digest(credential.encode("utf-8", "surrogatepass"), token.encode()):
        return Verdict.ACCEPTED
    claims = _signed_claims(credential, token)
    if claims is None:
        return Verdict.REFUSED
    expires = claims.get("exp")
    if not isinstance(expires, int | float) or isinstance(expires, bool):
        return Verdict.REFUSED
    return Verdict.ACCEPTED if now.timestamp() <= expires + LEEWAY.total_seconds() else Verdict.EXPIRED


def _signed_claims(credential: str, token: str) -> Mapping[str, object] | None:
    """The claims of an HS256 JWT signed with `token` (RFC 7519), None for anything else."""
    if len(credential) > JWT_CHARS_MAX or not credential.isascii() or credential.count(".") != 2:
        return None
    head, _, signature = credential.rpartition(".")
    header_text, _, claims_text = head.partition(".")
    expected = hmac.digest(token.encode(), head.encode(), "sha256")
    try:
        if not hmac.compare_digest(_decoded(signature), expected):
            return None
        header, claims = json.loads(_decoded(header_text)), json.loads(_decoded(claims_text))
    except (ValueError, RecursionError):
        return None
    signed = isinstance(header, Mapping) and header.get("alg") == "HS256"
    return claims if signed and isinstance(claims, Mapping) else None


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError("not base64url") from error
