"""Where a listing goes on: opaque to clients, tied to its filters and caller, and worthless if altered."""

import base64
import binascii
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from api.refusals import Refusal, RefusedError

CURSOR_PURPOSE = "cursor"
CURSOR_LENGTH_MAX = 100

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION_BYTES, _PROOF_BYTES = 24, 16

Prove = Callable[[str], str]
"""A keyed hash as hex; the same text under the same key gives the same proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last message of a page; the next page holds what comes after it, newest first."""

    accepted_at: datetime
    message_id: UUID


def write_cursor(position: Position, *, bound_to: str, prove: Prove) -> str:
    """A cursor that only opens together with `bound_to`."""
    microseconds = (position.accepted_at - _EPOCH) // timedelta(microseconds=1)
    blob = microseconds.to_bytes(8) + position.message_id.bytes
    return base64.urlsafe_b64encode(blob + _proof(blob, bound_to, prove)).decode().rstrip("=")


def read_cursor(text: str, *, bound_to: str, prove: Prove) -> Position:
    """Raises `RefusedError(CURSOR_INVALID)` for anything this platform did not write for exactly this listing."""
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError(Refusal.CURSOR_INVALID, field="cursor") from None
    blob, proof = whole[:_POSITION_BYTES], whole[_POSITION_BYTES:]
    if len(whole) != _POSITION_BYTES + _PROOF_BYTES or not hmac.compare_digest(proof, _proof(blob, bound_to, prove)):
        raise RefusedError(Refusal.CURSOR_INVALID, field="cursor")
    accepted_at = _EPOCH + timedelta(microseconds=int.from_bytes(blob[:8]))
    return Position(accepted_at=accepted_at, message_id=UUID(bytes=blob[8:]))


def _proof(blob: bytes, bound_to: str, prove: Prove) -> bytes:
    return bytes.fromhex(prove(f"{blob.hex()}:{bound_to}"))[:_PROOF_BYTES]
