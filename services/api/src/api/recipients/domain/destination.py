"""Cleans what people paste and decides which country it belongs to; nothing is guessed."""

import re
import unicodedata

from api.recipients.domain import brazil
from api.recipients.domain.countries import COUNTRIES, Country
from api.refusals import Refusal, RefusedError

_PREFIX = re.compile(r"^(whatsapp|tel):", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\s().\-\u2010-\u2015]+")
_CARRIER_LETTERS = re.compile(r"(?<![0-9A-Za-z])0\s?xx\s?(?=[0-9]{2})", re.IGNORECASE)
"""How Brazilians write "zero, the carrier of your choice, area code"."""
_PHONE_JID = re.compile(r"([0-9]{8,15})(?::[0-9]{1,3})?@(?:s\.whatsapp\.net|c\.us)")
_DECIMAL = re.compile(r"\+?[0-9]{8,}\.[0-9]{1,3}")
_DEBRIS = "'\";,"
"""What spreadsheets and lists leave around a number."""
_NOT_PEOPLE = (
    ("@g.us", "This is a group; the destination is a phone number."),
    ("@newsletter", "This is a channel; the destination is a phone number."),
    ("@lid", "This is a LID, which is no phone number."),
    ("@broadcast", "This is a broadcast list or the status; the destination is a phone number."),
)


def normalise(destination: str, *, default_country: str | None = None, field: str = "destinationNumber") -> str:
    """E.164 digits without `+`; raises `RefusedError(DESTINATION_INVALID)` with the reason, never with the input.

    `default_country` (ISO 3166) is what numbers without `+`, `00` or country code are taken to belong to.
    """
    try:
        return _normalise(destination, COUNTRIES.get(default_country or ""))
    except _NotOneError as error:
        raise RefusedError(Refusal.DESTINATION_INVALID, str(error), field=field) from None


class _NotOneError(Exception):
    """Why this is no phone number; never repeats it."""


def _normalise(destination: str, country: Country | None) -> str:
    text = _PREFIX.sub("", _visible(destination).strip().strip(_DEBRIS).strip())
    jid = _PHONE_JID.fullmatch(text)
    if jid is not None:
        return _international(jid[1])
    if "@" in text:
        raise _NotOneError(_kind_of_address(text))
    if _DECIMAL.fullmatch(text):
        raise _NotOneError("The destination looks like a decimal number; give a phone number as text.")
    digits = _PUNCTUATION.sub("", _CARRIER_LETTERS.sub("0", text))
    international = digits.startswith(("+", "00"))
    digits = digits.removeprefix("+") if digits.startswith("+") else digits.removeprefix("00")
    if not re.fullmatch(r"[0-9]+", digits):
        raise _NotOneError("A phone number has digits only, with an optional leading `+`.")
    return _international(digits) if international else _without_plus(digits, country)


def _kind_of_address(text: str) -> str:
    return next((reason for suffix, reason in _NOT_PEOPLE if text.lower().endswith(suffix)), "This is no phone number.")


def _without_plus(digits: str, country: Country | None) -> str:
    if (country is None or country.calling_code == brazil.COUNTRY_CODE) and brazil.is_service(digits):
        raise _NotOneError("This is a service number, not a subscriber's.")
    national = _national(digits, country) if country else None
    if country is not None and national is not None:
        return _international(country.calling_code + national)
    if digits.startswith("0"):
        raise _NotOneError("No country code starts with 0; give the number in international form.")
    if not 12 <= len(digits) <= 13:
        raise _NotOneError(
            "Without a leading `+` the country is not certain; give the number in international form."
            if len(digits) < 12
            else "These are too many digits for a phone number without a leading `+`."
        )
    return _international(digits)


def _national(digits: str, country: Country) -> str | None:
    if country.calling_code == brazil.COUNTRY_CODE:
        national = brazil.without_trunk(digits)
        return national if brazil.problem_of(national) is None else None
    if country.national.fullmatch(digits):
        return digits
    without = digits.removeprefix(country.trunk) if country.trunk else digits
    return without if country.national.fullmatch(without) else None


def _international(digits: str) -> str:
    if digits.startswith(brazil.COUNTRY_CODE):
        national = brazil.without_trunk(digits.removeprefix(brazil.COUNTRY_CODE))
        problem = brazil.problem_of(national)
        if problem is not None:
            raise _NotOneError(problem)
        return brazil.COUNTRY_CODE + national
    if len(digits) > 15:
        raise _NotOneError("A phone number has at most 15 digits.")
    if digits.startswith("0"):
        raise _NotOneError("No country code starts with 0; give the number in international form.")
    if len(digits) < 8:
        raise _NotOneError("The number is too short to be an international one.")
    return digits


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return "".join(character for character in text if unicodedata.category(character) != "Cf")
