"""The gateway is recognised by its token or by what it signs with it, with patience for its slow retries."""

import base64
import hmac
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.evolution.webhook_address import number_secret
from status_ingest.domain.credentials import Sender, Verdict, recognise, verify

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
TOKENS = ("the-current-ingest-token", "the-previous-ingest-token")


def encoded(value: bytes) -> str:
    """Unpadded base64url."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def signed(claims: object, *, key: str = TOKENS[0], algorithm: str = "HS256") -> str:
    """A JWT as the gateway makes it."""
    header = {"alg": algorithm, "typ": "JWT"}
    head = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    return f"{head}.{encoded(hmac.digest(key.encode(), head.encode(), 'sha256'))}"


def claims(*, expired_for: timedelta) -> dict[str, object]:
    """Claims valid for ten minutes that ended `expired_for` ago."""
    expires = NOW - expired_for
    return {"iat": (expires - timedelta(minutes=10)).timestamp(), "exp": expires.timestamp(), "app": "evolution"}


@pytest.mark.parametrize("token", TOKENS)
def test_every_configured_token_is_accepted(token: str) -> None:
    assert verify(["", token], TOKENS, now=NOW) is Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("credential", "verdict"),
    [
        (signed(claims(expired_for=timedelta(minutes=-5))), Verdict.ACCEPTED),
        (signed(claims(expired_for=timedelta(seconds=100))), Verdict.ACCEPTED),
        (signed(claims(expired_for=timedelta(minutes=30))), Verdict.ACCEPTED),
        (signed(claims(expired_for=timedelta(hours=3))), Verdict.EXPIRED),
        (signed(claims(expired_for=timedelta(seconds=100)), key=TOKENS[1]), Verdict.ACCEPTED),
        (signed(claims(expired_for=timedelta(seconds=100)), key="somebody else's token"), Verdict.REFUSED),
        (signed(claims(expired_for=timedelta(seconds=100)), algorithm="none"), Verdict.REFUSED),
        (signed({"iat": 1}), Verdict.REFUSED),
        (signed({"exp": True}), Verdict.REFUSED),
        (signed(["exp"]), Verdict.REFUSED),
    ],
)
def test_case_4_a_signed_token_outlives_the_gateways_retries(credential: str, verdict: Verdict) -> None:
    assert verify([credential], TOKENS, now=NOW) is verdict


def test_an_altered_claim_is_refused() -> None:
    head, _, signature = signed(claims(expired_for=timedelta(hours=3))).split(".")
    forged = encoded(json.dumps(claims(expired_for=timedelta(0))).encode())
    assert verify([f"{head}.{forged}.{signature}"], TOKENS, now=NOW) is Verdict.REFUSED


@given(st.lists(st.text(max_size=40), max_size=4))
def test_anything_else_is_refused_without_an_error(presented: list[str]) -> None:
    assert verify(presented, TOKENS, now=NOW) is Verdict.REFUSED


@given(st.from_regex(r"[A-Za-z0-9_=-]{0,20}\.[A-Za-z0-9_=-]{0,20}\.[A-Za-z0-9_=-]{0,20}", fullmatch=True))
def test_what_only_looks_like_a_signed_token_is_refused(credential: str) -> None:
    assert verify([credential], TOKENS, now=NOW) is Verdict.REFUSED


@pytest.mark.parametrize("token", TOKENS)
def test_a_numbers_secret_speaks_for_that_number_only(token: str) -> None:
    secret = number_secret(token, "loja")
    own = Sender(verdict=Verdict.ACCEPTED, number="loja")
    assert recognise(["loja", secret], [], TOKENS, now=NOW) == own
    assert recognise(["loja"], ["", secret], TOKENS, now=NOW) == own
    assert (
        recognise(["loja", "x"], [signed(claims(expired_for=timedelta(minutes=30)), key=secret)], TOKENS, now=NOW)
        == own
    )
    assert recognise(["shop", secret], [secret], TOKENS, now=NOW) == Sender(verdict=Verdict.REFUSED)
    assert recognise([secret], [], TOKENS, now=NOW) == Sender(verdict=Verdict.REFUSED)


def test_the_shared_token_speaks_for_all_wherever_it_stands() -> None:
    shared = Sender(verdict=Verdict.ACCEPTED)
    assert recognise([TOKENS[0], "messages-update"], [], TOKENS, now=NOW) == shared
    assert recognise(["loja", number_secret(TOKENS[0], "loja")], [TOKENS[1]], TOKENS, now=NOW) == shared
    assert recognise(["loja", TOKENS[0]], [], TOKENS, now=NOW) == Sender(verdict=Verdict.REFUSED)


def test_case_4_what_a_numbers_secret_signed_long_ago_is_expired_and_what_another_signed_refused() -> None:
    old = claims(expired_for=timedelta(hours=3))
    expired = recognise(["loja"], [signed(old, key=number_secret(TOKENS[0], "loja"))], TOKENS, now=NOW)
    assert expired == Sender(verdict=Verdict.EXPIRED, number="loja")
    other = recognise(["loja"], [signed(old, key=number_secret(TOKENS[0], "shop"))], TOKENS, now=NOW)
    assert other == Sender(verdict=Verdict.REFUSED)


@given(st.lists(st.text(max_size=40), max_size=4), st.lists(st.text(max_size=40), max_size=2))
def test_any_other_address_is_refused_without_an_error(address: list[str], in_headers: list[str]) -> None:
    assert recognise(address, in_headers, TOKENS, now=NOW) == Sender(verdict=Verdict.REFUSED)
