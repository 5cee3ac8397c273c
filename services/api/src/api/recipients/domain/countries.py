"""National numbers of a tenant's default country: how they are told from international ones. No other is guessed."""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Country:
    """Its calling code, the prefix dialled before an area code, and the shape of a national number without it."""

    calling_code: str
    trunk: str
    national: re.Pattern[str]


COUNTRIES: Final = {
    "BR": Country("55", "0", re.compile(r"[1-9][0-9]{9,10}")),
    "CA": Country("1", "1", re.compile(r"[2-9][0-9]{2}[2-9][0-9]{6}")),
    "CL": Country("56", "", re.compile(r"[2-9][0-9]{8}")),
    "CO": Country("57", "", re.compile(r"[36][0-9]{9}")),
    "ES": Country("34", "", re.compile(r"[6-9][0-9]{8}")),
    "MX": Country("52", "", re.compile(r"[2-9][0-9]{9}")),
    "PE": Country("51", "0", re.compile(r"9[0-9]{8}|[1-8][0-9]{7}")),
    "PT": Country("351", "", re.compile(r"[29][0-9]{8}")),
    "US": Country("1", "1", re.compile(r"[2-9][0-9]{2}[2-9][0-9]{6}")),
}
"""ISO 3166 codes that a tenant may set as its default country."""
