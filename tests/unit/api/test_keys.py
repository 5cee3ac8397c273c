"""API keys: one format, one answer to everything that is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.access.domain import Caller, KeyParts, KeyScope, admit, parse_key
from api.limits.domain import Allowance
from api.refusals import Refusal, RefusedError
from contracts.values import Environment

from .people import CALLER

PARTS = KeyParts(environment=Environment.LIVE, public_id="a1B2c3D4e5F6", secret="s" * 43)


def holder(parts: KeyParts) -> Caller:
    return Caller(
        key_id=CALLER.key_id,
        secret_hash=parts.secret_hash,
        environment=parts.environment,
        tenant_id=CALLER.tenant_id,
        project_id=CALLER.project_id,
        production_approved=True,
        scope=KeyScope.DEFAULT,
        number=None,
        allowance=Allowance(),
    )


@pytest.mark.parametrize("environment", list(Environment))
def test_a_raw_key_reads_back(environment: Environment) -> None:
    parts = KeyParts(environment=environment, public_id="a1B2c3D4e5F6", secret="_-" + "x" * 41)
    assert parse_key(parts.raw()) == parts
    assert parts.raw().startswith(f"ps_{environment.lower()}_")


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "",
        " ",
        "ps_live_short_secret",
        PARTS.raw() + "x",
        PARTS.raw() + "\n",
        " " + PARTS.raw(),
        PARTS.raw().upper(),
        PARTS.raw().replace("live", "prod"),
        PARTS.raw()[:-1],
        "Bearer " + PARTS.raw(),
    ],
)
def test_anything_else_is_no_key(raw: str | None) -> None:
    with pytest.raises(RefusedError) as raised:
        parse_key(raw)
    assert raised.value.refusal is Refusal.API_KEY_INVALID


@given(st.text(max_size=100))
def test_no_text_breaks_the_parser(raw: str) -> None:
    with pytest.raises(RefusedError):
        parse_key(raw)


def test_the_secret_shows_in_no_repr_and_the_hash_is_not_the_secret() -> None:
    assert PARTS.secret not in repr(PARTS)
    assert PARTS.secret.encode() not in PARTS.secret_hash
    assert PARTS.secret_hash.hex() not in repr(holder(PARTS))


def test_the_right_secret_is_admitted() -> None:
    assert admit(PARTS, holder(PARTS)) == holder(PARTS)


def test_unknown_key_wrong_secret_and_wrong_environment_look_the_same() -> None:
    wrong_secret = KeyParts(environment=Environment.LIVE, public_id=PARTS.public_id, secret="t" * 43)
    wrong_environment = KeyParts(environment=Environment.TEST, public_id=PARTS.public_id, secret=PARTS.secret)
    for parts, known in ((PARTS, None), (wrong_secret, holder(PARTS)), (wrong_environment, holder(PARTS))):
        with pytest.raises(RefusedError) as raised:
            admit(parts, known)
        assert (raised.value.refusal, raised.value.field) == (Refusal.API_KEY_INVALID, None)
