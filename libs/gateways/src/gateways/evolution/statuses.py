"""Evolution's status words and numbers as one closed set, and what each of them means to us."""

import re
from enum import StrEnum
from typing import assert_never

from gateways.port import ReceiptStatus

_NUMBER = re.compile(r"[0-9]{1,3}")


class EvolutionStatus(StrEnum):
    """Every status Evolution knows; the first six also come as numbers, in this order from 0."""

    ERROR = "ERROR"
    PENDING = "PENDING"
    SERVER_ACK = "SERVER_ACK"
    DELIVERY_ACK = "DELIVERY_ACK"
    READ = "READ"
    PLAYED = "PLAYED"
    DELETED = "DELETED"
    EDITED = "EDITED"


_BY_NUMBER = tuple(EvolutionStatus)[:6]


def parse_status(value: object) -> EvolutionStatus | None:
    """The status in a word of any case, a number or a numeric string; None if it is no status we know. 0 is ERROR."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        return next((status for number, status in enumerate(_BY_NUMBER) if number == value), None)
    word = value.strip().upper()
    if _NUMBER.fullmatch(word):
        number = int(word)
        return _BY_NUMBER[number] if number < len(_BY_NUMBER) else None
    return EvolutionStatus(word) if word in EvolutionStatus.__members__ else None


def receipt_status(status: EvolutionStatus) -> ReceiptStatus | None:
    """The progress a status proves; None for those that rank nothing (an unmapped status may arrive as DELETED)."""
    match status:
        case EvolutionStatus.ERROR:
            return ReceiptStatus.FAILED
        case EvolutionStatus.SERVER_ACK:
            return ReceiptStatus.SENT
        case EvolutionStatus.DELIVERY_ACK:
            return ReceiptStatus.DELIVERED
        case EvolutionStatus.READ | EvolutionStatus.PLAYED:
            return ReceiptStatus.READ
        case EvolutionStatus.PENDING | EvolutionStatus.DELETED | EvolutionStatus.EDITED:
            return None
    assert_never(status)
