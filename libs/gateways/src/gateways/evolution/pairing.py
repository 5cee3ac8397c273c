"""What Evolution says while an instance is being connected: its state, and what to scan or type on the phone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateways.port import ConnectionState

_STATES = {
    "open": ConnectionState.OPEN,
    "connecting": ConnectionState.CONNECTING,
    "close": ConnectionState.CLOSE,
    "refused": ConnectionState.CLOSE,
}
_QR_CODE = re.compile(r"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+")
_PAIRING_CODE = re.compile(r"([A-Z0-9]{4})-?([A-Z0-9]{4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """`qr_code` is a `data:image/…` URI, `code` reads `ABCD-1234`; whoever has either can take the session over."""

    state: ConnectionState | None = None
    qr_code: str | None = field(default=None, repr=False)
    code: str | None = field(default=None, repr=False)


def pairing_of(body: object) -> Pairing:
    """What an answer of `create`, `connect` or `connectionState` holds of it; total."""
    if not isinstance(body, Mapping):
        return Pairing()
    instance = body.get("instance")
    qr_code, code = body.get("base64"), body.get("pairingCode")
    spelled = _PAIRING_CODE.fullmatch(code) if isinstance(code, str) else None
    return Pairing(
        state=state_of(instance.get("state")) if isinstance(instance, Mapping) else None,
        qr_code=qr_code if isinstance(qr_code, str) and _QR_CODE.fullmatch(qr_code) else None,
        code=f"{spelled[1]}-{spelled[2]}" if spelled else None,
    )


def state_of(word: object) -> ConnectionState | None:
    """Evolution's word for a connection; None for one we do not know."""
    return _STATES.get(word) if isinstance(word, str) else None
