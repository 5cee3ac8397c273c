"""How projects get their names for machines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.accounts.domain import distinct_slug, slug_of
from contracts.ids import uuid7


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Loja São José!", "loja-sao-jose"),
        ("  a  --  B ", "a-b"),
        ("商店", "project"),
        ("x" * 100, "x" * 60),
        ("Loja 2", "loja-2"),
    ],
)
def test_a_slug_is_the_name_in_plain_letters(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text(min_size=1, max_size=200))
def test_every_name_has_a_slug_that_fits_an_address(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug_of(name))
    assert len(slug_of(name)) <= 60


def test_a_second_project_of_a_name_gets_another_slug() -> None:
    first, second = uuid7(), uuid7()
    assert distinct_slug("loja", first) != distinct_slug("loja", second)
    assert distinct_slug("loja", first).startswith("loja-")
