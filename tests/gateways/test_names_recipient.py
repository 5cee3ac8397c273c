"""Whether a text names a person: in either spelling, with or without country code and punctuation, and nobody else."""

import pytest

from gateways.recipients import names_recipient

PHONE = "5547981230001"


@pytest.mark.parametrize(
    "text",
    [
        "5547981230001",
        "554781230001@s.whatsapp.net",
        '{"remoteJid":"5547981230001:12@s.whatsapp.net"}',
        "+55 (47) 98123-0001",
        "ligue 047 98123 0001!",
        "47981230001",
        "00 55 47 9 8123.0001",
        "a: 1, b: 5547981230001, c: 2",
    ],
)
def test_every_spelling_is_found(text: str) -> None:
    assert names_recipient(text, PHONE)
    assert names_recipient(text, "554781230001")


@pytest.mark.parametrize(
    "text",
    ["", "5547981230002", "15547981230001", "55479812300017", "1717981230001", "5547 and 981230001", "981230001"],
)
def test_others_are_not(text: str) -> None:
    assert not names_recipient(text, PHONE)


def test_a_landline_and_a_foreign_number_are_found_as_they_are() -> None:
    assert names_recipient("tel +55 31 3600-0000", "553136000000")
    assert names_recipient("+1 (212) 555-0100", "12125550100")
    assert not names_recipient("+1 (212) 555-0101", "12125550100")
