"""Two spellings, one person: Brazil's ninth digit, Mexico's 1, Argentina's 9."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.recipients import recipient_key, recipient_variants, same_recipient


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5531988000000", "553188000000"),
        ("5547991234567", "554791234567"),
        ("5511991000000", "551191000000"),
        ("5531966000000", "553166000000"),
        ("5215512345678", "525512345678"),
        ("5491123456789", "541123456789"),
    ],
)
def test_case_13_both_variants_are_one_recipient(one: str, other: str) -> None:
    assert same_recipient(one, other)
    assert recipient_key(one) == recipient_key(other)
    assert set(recipient_variants(one)) == set(recipient_variants(other)) == {one, other}
    assert recipient_variants(one)[0] == one
    assert recipient_variants(other)[0] == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("553136000000", "5531936000000"),
        ("5531988000000", "5531988000001"),
        ("5531988000000", "5532988000000"),
        ("5531988000000", "31988000000"),
        ("13105550100", "3105550100"),
        ("351911234567", "35191123456"),
    ],
)
def test_case_13_other_people_stay_other_people(one: str, other: str) -> None:
    assert not same_recipient(one, other)


@pytest.mark.parametrize("landline", ["553136000000", "551140040000", "13105550100", "4915112345678", ""])
def test_case_13_a_number_with_one_spelling_stays_alone(landline: str) -> None:
    assert recipient_variants(landline) == (landline,)
    assert recipient_key(landline) == landline


@given(st.text(alphabet="0123456789", max_size=16) | st.from_regex(r"(55|52|54)[0-9]{10,11}", fullmatch=True))
def test_the_key_is_stable_and_shared_by_all_variants(digits: str) -> None:
    key = recipient_key(digits)
    assert recipient_key(key) == key
    assert {recipient_key(variant) for variant in recipient_variants(digits)} == {key}
