"""Each number's address: derived, told by nobody else's, and made from the shared one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.evolution.webhook_address import number_secret, own_path, own_url, shared_url, split_shared_url

TOKEN = "an-ingest-token-for-tests"
names = st.from_regex(r"[A-Za-z0-9_-]{1,100}", fullmatch=True)


def test_the_secret_is_the_documented_hmac() -> None:
    """Changing it would close the addresses that gateways have been given."""
    assert number_secret(TOKEN, "loja") == "Zs9uCprlqTzjCiSrPGLKj30ekoddKzzCFu6JjMxZLD4"
    assert own_path(TOKEN, "loja") == f"/webhooks/evolution/loja/{number_secret(TOKEN, 'loja')}"


@given(one=names, other=names)
def test_secrets_differ_by_number_and_by_token(one: str, other: str) -> None:
    secret = number_secret(TOKEN, one)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", secret)
    assert (secret == number_secret(TOKEN, other)) == (one == other)
    assert secret != number_secret(TOKEN + "x", one)


@pytest.mark.parametrize(
    "base_url", ["http://status-ingest:8000", "https://hooks.example.com/pilot", "http://[::1]:80"]
)
@pytest.mark.parametrize("token", [TOKEN, "a token with / and % and é"])
@pytest.mark.parametrize("end", ["", "/"])
def test_the_own_address_stands_where_the_shared_one_does(base_url: str, token: str, end: str) -> None:
    shared = shared_url(base_url + end, token) + end
    assert split_shared_url(shared) == (base_url, token)
    assert own_url(shared, "loja") == base_url + own_path(token, "loja")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://host/webhooks/evolution",
        "http://host/webhooks/evolution/short",
        f"http://host/webhooks/evolution/loja/{TOKEN}",
        f"http://host/hooks/{TOKEN}",
        f"ftp://host/webhooks/evolution/{TOKEN}",
        f"/webhooks/evolution/{TOKEN}",
        f"http:///webhooks/evolution/{TOKEN}",
    ],
)
def test_what_is_no_shared_address_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        own_url(url, "loja")
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("instance", ["", "a/b", "a b", "é", "x" * 101, "loja\n"])
def test_what_is_no_name_of_a_number_has_no_address(instance: str) -> None:
    with pytest.raises(ValueError, match="name"):
        own_path(TOKEN, instance)
