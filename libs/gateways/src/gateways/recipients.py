"""One key per person: some countries write the same mobile in two ways, and WhatsApp may answer with the other one."""

import re

# Brazilian mobiles gained a ninth digit in front of local parts that begin with 6-9; landlines (2-5) never did.
_BRAZIL_LONG = re.compile(r"55(\d{2})9([6-9]\d{7})")
_BRAZIL_SHORT = re.compile(r"55(\d{2})([6-9]\d{7})")
# Mexico once put a 1, Argentina puts a 9, between country code and national number of a mobile.
_MOBILE_MARKS = {"52": "1", "54": "9"}

_NUMBER_RUN = re.compile(r"[0-9](?:[ .()/\-]{0,3}[0-9]){7,}")
_NATIONAL_DIGITS_MIN = 9


def recipient_key(digits: str) -> str:
    """A canonical key for E.164 digits without `+`: equal for both spellings of one mobile, never to be dialled."""
    if brazil := _BRAZIL_LONG.fullmatch(digits):
        return f"55{brazil[1]}{brazil[2]}"
    mark = _MOBILE_MARKS.get(digits[:2])
    if mark is not None and len(digits) == 13 and digits[2] == mark:
        return digits[:2] + digits[3:]
    return digits


def same_recipient(one: str, other: str) -> bool:
    """Whether two digit strings name one person, ninth digit (BR) and mobile mark (MX, AR) aside."""
    return recipient_key(one) == recipient_key(other)


def recipient_variants(digits: str) -> tuple[str, ...]:
    """The number as given, then its other spelling if its country has one: what to ask a gateway's store for."""
    key = recipient_key(digits)
    if key != digits:
        return (digits, key)
    if brazil := _BRAZIL_SHORT.fullmatch(digits):
        return (digits, f"55{brazil[1]}9{brazil[2]}")
    mark = _MOBILE_MARKS.get(digits[:2])
    if mark is not None and len(digits) == 12:
        return (digits, f"{digits[:2]}{mark}{digits[2:]}")
    return (digits,)


def names_recipient(text: str, digits: str) -> bool:
    """Whether a text holds a person's number, in either spelling, with or without country code and punctuation."""
    national = {variant[start:] for variant in recipient_variants(digits) for start in (1, 2, 3)}
    local = {number for number in national if len(number) >= _NATIONAL_DIGITS_MIN}
    wanted = {*recipient_variants(digits), *local}
    wanted |= {f"0{number}" for number in wanted} | {f"00{number}" for number in wanted}
    return any(re.sub(r"\D", "", run[0]) in wanted for run in _NUMBER_RUN.finditer(text))
