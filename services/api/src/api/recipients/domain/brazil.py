"""Brazilian numbers: area codes, trunk zero, carrier codes and service numbers. The ninth digit stays as given."""

import re
from typing import Final

COUNTRY_CODE: Final = "55"
_AREA_CODES: Final = frozenset(
    [
        "11",
        "12",
        "13",
        "14",
        "15",
        "16",
        "17",
        "18",
        "19",
        "21",
        "22",
        "24",
        "27",
        "28",
        "31",
        "32",
        "33",
        "34",
        "35",
        "37",
        "38",
        "41",
        "42",
        "43",
        "44",
        "45",
        "46",
        "47",
        "48",
        "49",
        "51",
        "53",
        "54",
        "55",
        "61",
        "62",
        "63",
        "64",
        "65",
        "66",
        "67",
        "68",
        "69",
        "71",
        "73",
        "74",
        "75",
        "77",
        "79",
        "81",
        "82",
        "83",
        "84",
        "85",
        "86",
        "87",
        "88",
        "89",
        "91",
        "92",
        "93",
        "94",
        "95",
        "96",
        "97",
        "98",
        "99",
    ]
)
_LOCAL: Final = re.compile(r"9[0-9]{8}|[2-9][0-9]{7}")
"""A mobile with its ninth digit, or eight digits: a landline, or a mobile as it is still registered at WhatsApp."""
_TRUNK: Final = re.compile(r"0(?:[0-9]{2})?([1-9][0-9]{9,10})")
"""A trunk zero, perhaps with a carrier's two digits, before area code and local part."""
_SERVICE: Final = re.compile(r"0?[358]00[0-9]{6,7}|(?:400|300)[0-9][0-9]{4}|1[0-9]{2}")


def without_trunk(national: str) -> str:
    """Area code and local part, without trunk zero and carrier code."""
    trunk = _TRUNK.fullmatch(national)
    return trunk[1] if trunk else national


def is_service(national: str) -> bool:
    """0800, 0300 and 0500 numbers, 4004 and its like, emergency numbers: nobody's WhatsApp."""
    return _SERVICE.fullmatch(national) is not None


def problem_of(national: str) -> str | None:
    """Why these digits after 55 are no subscriber's number; None if they are."""
    if is_service(national):
        return "This is a service number, not a subscriber's."
    if national.startswith("0"):
        return "After the country code 55 comes the area code, and none starts with 0."
    if national[:2] not in _AREA_CODES:
        return "The Brazilian area code does not exist."
    if _LOCAL.fullmatch(national[2:]) is None:
        return "After a Brazilian area code come nine digits beginning with 9, or eight."
    return None
