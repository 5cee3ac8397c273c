"""Identifiers in the shapes the gateway uses, derived where they must survive a restart."""

import hashlib
import secrets
import string
import uuid

_BASE36 = string.digits + string.ascii_lowercase
_CUID_LENGTH = 25


KEY_ID_PREFIX = "3EB0"


def new_key_id(prefix: str = KEY_ID_PREFIX) -> str:
    """WhatsApp's message id as Baileys makes it: 3EB0 and 18 upper-case hexadecimal digits; a script may begin it."""
    return prefix + secrets.token_hex(9).upper()


def message_row_id(key_id: str) -> str:
    """The gateway's own row id (a cuid); the same for the same message after a restart."""
    return _cuid(f"message:{key_id}")


def update_row_id(key_id: str, position: int) -> str:
    return _cuid(f"update:{key_id}:{position}")


def webhook_row_id(instance: str) -> str:
    return _cuid(f"webhook:{instance}")


def instance_id(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"instance:{name}"))


def _cuid(seed: str) -> str:
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16])
    characters = ["c", "m"]
    while len(characters) < _CUID_LENGTH:
        number, digit = divmod(number, 36)
        characters.append(_BASE36[digit])
    return "".join(characters)
