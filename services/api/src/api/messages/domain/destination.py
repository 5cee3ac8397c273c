"""Where a message goes: what people paste, as E.164 digits; nothing is guessed."""

import re
import unicodedata

from api.refusals import Refusal, RefusedError

_PREFIX = re.compile(r"^(whatsapp|tel):", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\s().\-\u2010-\u2015]+")
_PHONE_JID = re.compile(r"^(\d{8,15})(?::\d{1,3})?@(?:s\.whatsapp\.net|c\.us)$")


def normalise(destination: str) -> str:
    """E.164 digits without `+`; raises `RefusedError(DESTINATION_INVALID)` with the reason, never with the input."""
    text = _PREFIX.sub("", _visible(destination).strip())
    jid = _PHONE_JID.match(text)
    if jid is not None:
        return jid[1]
    if "@" in text:
        raise _refused("Groups, channels, broadcasts and LIDs are not phone numbers.")
    international = text.startswith(("+", "00"))
    digits = _PUNCTUATION.sub("", text.removeprefix("+") if text.startswith("+") else text.removeprefix("00"))
    if not re.fullmatch(r"[0-9]+", digits):
        raise _refused("A phone number has digits only, with an optional leading `+`.")
    return _checked(digits, international=international)


def _checked(digits: str, *, international: bool) -> str:
    if len(digits) > 15:
        raise _refused("A phone number has at most 15 digits.")
    if digits.startswith("0"):
        raise _refused("No country code starts with 0; give the number in international form.")
    if international and len(digits) < 8:
        raise _refused("The number is too short to be an international one.")
    if not international and not 12 <= len(digits) <= 13:
        raise _refused("Without a leading `+` the country is not certain; give the number in international form.")
    return digits


def _visible(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def _refused(sentence: str) -> RefusedError:
    return RefusedError(Refusal.DESTINATION_INVALID, sentence, field="destinationNumber")
