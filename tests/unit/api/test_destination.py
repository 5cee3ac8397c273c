"""Destinations as people paste them: either certain, or refused with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.recipients.domain import normalise
from api.refusals import Refusal, RefusedError


def refusal_of(destination: str, country: str | None = None) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        normalise(destination, default_country=country)
    assert raised.value.refusal is Refusal.DESTINATION_INVALID
    assert raised.value.field == "destinationNumber"
    return raised.value


@pytest.mark.parametrize(
    ("given", "digits"),
    [
        ("+5547991000000", "5547991000000"),
        ("5547991000000", "5547991000000"),
        ("554736000000", "554736000000"),
        ("  +55 (47) 99100-0000 ", "5547991000000"),
        ("+55\u00a047\u200b 99100\u20110000", "5547991000000"),
        ("\u202a+5547991000000\u202c", "5547991000000"),
        ("+1.5551234567", "15551234567"),
        ("TEL:+55-47-99100-0000", "5547991000000"),
    ],
)
def test_what_people_paste_is_cleaned(given: str, digits: str) -> None:
    assert normalise(given) == digits


@pytest.mark.parametrize("given", ["5531988000000", "553188000000", "5511991000000", "553136000000"])
def test_case_13_the_number_stays_as_given(given: str) -> None:
    assert normalise(given) == given


@pytest.mark.parametrize("given", ["33991000000", "51991000000", "(33) 99100-0000"])
def test_case_15_without_country_nothing_is_guessed(given: str) -> None:
    assert "international form" in refusal_of(given).sentence


@pytest.mark.parametrize("country", [None, "BR", "PT"])
def test_case_15_with_a_plus_it_is_international_and_unchanged(country: str | None) -> None:
    assert normalise("+33991000000", default_country=country) == "33991000000"
    assert normalise("+51991000000", default_country=country) == "51991000000"


@pytest.mark.parametrize(
    ("given", "digits"),
    [
        ("33991000000", "5533991000000"),
        ("51991000000", "5551991000000"),
        ("(33) 99100-0000", "5533991000000"),
        ("3136000000", "553136000000"),
        ("55991000000", "5555991000000"),
        ("5547991000000", "5547991000000"),
        ("554791000000", "554791000000"),
    ],
)
def test_case_15_a_default_country_completes_its_own_numbers(given: str, digits: str) -> None:
    assert normalise(given, default_country="BR") == digits


@pytest.mark.parametrize("given", ["20991000000", "10991000000", "119910000", "991000000", "33891000000"])
def test_case_15_what_is_no_number_of_the_default_country_is_refused(given: str) -> None:
    refusal_of(given, "BR")


@pytest.mark.parametrize(
    ("country", "given", "digits"),
    [
        ("PT", "912 345 678", "351912345678"),
        ("US", "(202) 555-0100", "12025550100"),
        ("US", "1-202-555-0100", "12025550100"),
        ("PE", "0 1 234 5678", "5112345678"),
        ("MX", "55 1234 5678", "525512345678"),
    ],
)
def test_case_15_other_countries_have_their_own_shapes(country: str, given: str, digits: str) -> None:
    assert normalise(given, default_country=country) == digits


@pytest.mark.parametrize("given", ["+5520991000000", "+55479910000", "+5547891000000", "5500991000000", "+55471000000"])
def test_case_20_a_brazilian_number_has_a_real_area_code_and_length(given: str) -> None:
    refusal_of(given)


@pytest.mark.parametrize(
    "given",
    ["+55 (047) 99100-0000", "+55 047 99100-0000", "+55 0 15 47 99100-0000", "005547991000000", "00 55 047 991000000"],
)
def test_case_17_trunk_zero_carrier_and_0055_are_no_part_of_the_number(given: str) -> None:
    assert normalise(given) == "5547991000000"


@pytest.mark.parametrize(
    "given", ["047991000000", "0 15 47 99100-0000", "+55 (0xx47) 99100-0000", "(0xx47) 99100-0000", "0 XX 47 991000000"]
)
def test_case_17_national_forms_need_the_country_of_the_tenant(given: str) -> None:
    assert normalise(given, default_country="BR") == "5547991000000"


@pytest.mark.parametrize(
    "given", ["0800 700 0000", "4004-0000", "3003 0000", "0300 700 0000", "190", "+55 0800 700 0000"]
)
@pytest.mark.parametrize("country", [None, "BR"])
def test_case_17_service_numbers_are_refused_as_such(given: str, country: str | None) -> None:
    assert "service number" in refusal_of(given, country).sentence


def test_case_17_landlines_too() -> None:
    assert normalise("+55 (047) 3600-0000") == normalise("+55 015 47 3600-0000") == "554736000000"


@pytest.mark.parametrize("given", ["0800 700 0000", "4004-0000", "+550800700000", "+55 0"])
def test_case_17_service_numbers_are_refused(given: str) -> None:
    refusal_of(given)


@pytest.mark.parametrize("given", ["whatsapp:+5547991000000", "'5547991000000", "5547991000000;", "5547991000000,"])
def test_case_19_prefix_apostrophe_and_separator_are_cleaned(given: str) -> None:
    assert normalise(given) == "5547991000000"


@pytest.mark.parametrize(
    "given",
    [
        "5547991000000/5547992000000",
        "5547991000000;5547992000000",
        "5547991000000 5547992000000",
        "5.547991E+12",
        "5547991000000.0",
        "554736000000.0",
        "+554736000000.00",
        "-",
        "n/a",
        "",
        "   ",
        "\u200b",
        "1234567890123456",
        "+1234567890123456",
    ],
)
def test_case_19_debris_is_refused(given: str) -> None:
    refusal_of(given)


def test_case_19_a_decimal_is_refused_as_one() -> None:
    assert "decimal" in refusal_of("554736000000.0").sentence


@pytest.mark.parametrize("given", ["5547991000000:12@s.whatsapp.net", "5547991000000@c.us", "5547991000000:0@c.us"])
def test_case_21_a_persons_jid_is_cleaned_to_the_phone(given: str) -> None:
    assert normalise(given) == "5547991000000"


@pytest.mark.parametrize(
    "given",
    [
        "100000000000001@lid",
        "120363000000000000@g.us",
        "120363000000000000@newsletter",
        "5547991000000-1411000000@g.us",
        "status@broadcast",
        "5547991000000@g.us",
        "5547991000000@c.us.example",
        "5547991000000@s.whatsapp.net/x",
        "0479910000000@c.us",
        "٥٥٤٧٩٩١٠٠٠٠٠٠@c.us",
    ],
)
def test_case_21_what_is_no_person_is_refused(given: str) -> None:
    refusal_of(given)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("100000000000001@lid", "LID"),
        ("120363000000000000@g.us", "group"),
        ("120363000000000000@newsletter", "channel"),
        ("status@broadcast", "broadcast"),
    ],
)
def test_case_21_the_reason_names_the_kind(given: str, kind: str) -> None:
    assert kind in refusal_of(given).sentence


@pytest.mark.parametrize("given", ["100000000000001", "120363000000000000", "12345678901234"])
def test_case_21_long_bare_digits_never_become_a_phone(given: str) -> None:
    refusal_of(given)


@given(st.text(max_size=40) | st.from_regex(r"\+?[0-9 .()/-]{6,20}", fullmatch=True))
def test_an_accepted_destination_is_a_canonical_one(text: str) -> None:
    try:
        digits = normalise(text)
    except RefusedError:
        return
    assert 8 <= len(digits) <= 15
    assert digits.isascii()
    assert digits.isdecimal()
    assert digits[0] != "0"
    assert normalise(f"+{digits}") == digits


@pytest.mark.parametrize("given", ["Maria 5547991000000 Silva", "55479910000001234", "5547991000000@lid"])
def test_a_refusal_does_not_repeat_what_was_given(given: str) -> None:
    assert not any(character.isdigit() for character in refusal_of(given).sentence.replace("15", ""))


@pytest.mark.parametrize("given", ["0479910000", "0479910000000", "01234"])
def test_a_number_without_plus_that_starts_with_zero_is_told_why(given: str) -> None:
    assert "starts with 0" in refusal_of(given).sentence
