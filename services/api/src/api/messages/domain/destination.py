"""Where a message goes: what people paste, as E.164 digits; nothing is guessed."""

import re
import unicodedata

from api.refusals import Refusal, RefusedError

_PREFIX = re.compile(r"^(whatsapp|tel):", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\s().\-\u2010-\u2015]+")
_PHONE_JID = re.compile(r"([0-9]{8,15})(?::[0-9]{1,3})?@(?:s\.whatsapp\.net|c\.us)")
_DECIMAL = re.compile(r"\+?[0-9]{8,}\.[0-9]{1,3}")
_BRAZIL_TRUNK = re.compile(r"550(?:[0-9]{2})?([1-9][0-9]{9,10})")
"""A trunk zero, perhaps with a carrier's two digits, between the country code and the national number."""
_DEBRIS = "'\";,"
"""What spreadsheets and lists leave around a number."""


def normalise(destination: str) -> str:
    """E.164 digits without `+`; raises `RefusedError(DESTINATION_INVALID)` with the reason, never with the input."""
    text = _PREFIX.sub("", _visible(destination).strip().strip(_DEBRIS).strip())
    jid = _PHONE_JID.fullmatch(text)
    if jid is not None:
        return _checked(jid[1], international=True)
    if "@" in text:
        raise _refused("Groups, channels, broadcasts and LIDs are not phone numbers.")
    if _DECIMAL.fullmatch(text):
        raise _refused("The destination looks like a decimal number; give a phone number as text.")
    international = text.startswith(("+", "00"))
    digits = _PUNCTUATION.sub("", text.removeprefix("+") if text.startswith("+") else text.removeprefix("00"))
    if not re.fullmatch(r"[0-9]+", digits):
        raise _refused("A phone number has digits only, with an optional leading `+`.")
    return _checked(digits, international=international)


def _checked(digits: str, *, international: bool) -> str:
    trunk = _BRAZIL_TRUNK.fullmatch(digits)
    if trunk is not None:
        digits = f"55{trunk[1]}"
    if len(digits) > 15:
        raise _refused("A phone number has at most 15 digits.")
    if digits.startswith("0"):
        raise _refused("No country code starts with 0; give the number in international form.")
    if digits.startswith("550"):
        raise _refused("After the country code 55 comes the area code, and none starts with 0.")
    if international and len(digits) < 8:
        raise _refused("The number is too short to be an international one.")
    if not international and not 12 <= len(digits) <= 13:
        raise _refused("Without a leading `+` the country is not certain; give the number in international form.")
    return digits


def _visible(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def _refused(sentence: str) -> RefusedError:
    return RefusedError(Refusal.DESTINATION_INVALID, sentence, field="destinationNumber")
