"""How the gateway turns a requested number into a WhatsApp address, ninth digit included."""

import re

_ADDRESSES = ("@g.us", "@s.whatsapp.net", "@lid", "@broadcast")
_DEVICE = re.compile(r":\d+")
_PUNCTUATION = re.compile(r"[\s+()]")
_BRAZILIAN_MOBILE = re.compile(r"^55(\d{2})\d(\d{8})$")
_AREA_CODE_WITHOUT_NINTH_DIGIT = 31
_FIRST_MOBILE_DIGIT = 7
_GROUP_DIGITS_MIN = 18
_OLD_GROUP_LENGTH_MIN = 24


def create_jid(number: str) -> str:
    """The address for a number as `createJid` of 2.3.7 builds it (reference: its utils/createJid.ts)."""
    bare = _DEVICE.sub("", number)
    if any(address in bare for address in _ADDRESSES):
        return bare
    bare = _PUNCTUATION.sub("", bare)
    if "-" in bare and len(bare) >= _OLD_GROUP_LENGTH_MIN:
        return f"{re.sub(r'[^0-9-]', '', bare)}@g.us"
    digits = re.sub(r"\D", "", bare)
    if len(digits) >= _GROUP_DIGITS_MIN:
        return f"{digits}@g.us"
    return f"{_national_form(digits)}@s.whatsapp.net"


def _national_form(digits: str) -> str:
    if len(digits) == 13 and digits.startswith(("52", "54")):
        return digits[:2] + digits[3:]
    brazilian = _BRAZILIAN_MOBILE.match(digits)
    if brazilian is None:
        return digits
    area, subscriber = brazilian.groups()
    if int(area) < _AREA_CODE_WITHOUT_NINTH_DIGIT or int(subscriber[0]) < _FIRST_MOBILE_DIGIT:
        return digits
    return f"55{area}{subscriber}"


def is_person(jid: str) -> bool:
    """Receipts come for people only; groups and broadcasts produce none."""
    return jid.endswith(("@s.whatsapp.net", "@lid"))
