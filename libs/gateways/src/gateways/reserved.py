"""The WhatsApp id that a message is to have, chosen before it is sent so that a second send is the same message."""

import hashlib
from uuid import UUID

_PREFIX = "3EB0"
_DIGITS = 18


def reserved_id(message_id: UUID, round_number: int) -> str:
    """The same for every attempt of one round, shaped as Baileys shapes its own: 3EB0 and 18 upper-case hex digits."""
    seed = message_id.bytes + round_number.to_bytes(4, "big")
    return _PREFIX + hashlib.sha256(seed).hexdigest()[:_DIGITS].upper()
