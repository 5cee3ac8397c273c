"""Time-ordered identifiers (UUIDv7, RFC 9562), so that tables and indexes grow at one end."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)
