"""What is an idempotency key, and which requests mean the same."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from api.content.domain.draft import ButtonDraft, Draft
from api.messages.domain.idempotency import Claim, Remembered, canonical, checked_key, replay
from api.messages.domain.receipt import Receipt
from api.messages.domain.request import SendRequest
from api.messages.usecases.prepare_message import PrepareMessage
from api.refusals import Refusal, RefusedError
from chassis.seal import Pepper
from contracts.ids import uuid7

from .people import CALLER, NOW, NUMBER, TESTER


@pytest.mark.parametrize("raw", ["", " ", "\u00a0", "x" * 256, "a\nb", "a\x00b", "a\x7fb", "a\x85b", "\t"])
def test_case_47_a_bad_key_is_refused(raw: str) -> None:
    with pytest.raises(RefusedError) as raised:
        checked_key(raw)
    assert raised.value.refusal is Refusal.IDEMPOTENCY_KEY_INVALID


@pytest.mark.parametrize("raw", [None, "x", "x" * 255, "order 7", "\u00e9"])
def test_case_47_any_other_is_taken_as_it_is(raw: str | None) -> None:
    assert checked_key(raw) == raw


def meaning(**request: Any) -> str:
    values: dict[str, Any] = {"destination": "5547991000000", "draft": Draft(text="oi"), **request}
    return canonical(SendRequest(**values))


def test_case_47_order_nulls_defaults_and_spellings_of_an_instant_do_not_matter() -> None:
    assert meaning(variables={"a": 1, "b": 2}) == meaning(variables={"b": 2, "a": 1})
    assert meaning(variables={"a": None}) == meaning() == meaning(variables={}, urgent=False, labels=())
    at = {"deliver_at": "2030-01-01T12:00:00Z"}
    assert meaning(**at) == meaning(deliver_at="2030-01-01T09:00:00.000-03:00")
    assert meaning(**at) != meaning(deliver_at="2030-01-01T12:00:01Z")


def test_case_47_what_says_something_else_is_something_else() -> None:
    buttons = (ButtonDraft(type="reply", label="Sim"), ButtonDraft(type="reply", label="N\u00e3o"))
    others = [
        meaning(),
        meaning(draft=Draft(text="Oi")),
        meaning(draft=Draft(text="oi", footer="x")),
        meaning(draft=Draft(text="oi", buttons=buttons)),
        meaning(draft=Draft(text="oi", buttons=buttons[::-1])),
        meaning(destination="5547991000001"),
        meaning(template="t"),
        meaning(urgent=True),
        meaning(labels=("a",)),
        meaning(variables={"a": 0}),
        meaning(variables={"a": "0"}),
        meaning(variables={"a": 1}),
        meaning(deliver_at="2030-01-01T12:00:00Z"),
        meaning(deliver_until="2030-01-01T12:00:00Z"),
        meaning(deliver_at="never"),
    ]
    assert len(set(others)) == len(others)


PEPPER = Pepper.parse(base64.b64encode(b"p" * 32).decode())


def claimed(caller: Any = CALLER, **request: Any) -> Claim:
    """The claim that a caller's request makes; nothing but the pepper is needed for it."""
    nothing: Any = None
    prepare = PrepareMessage(
        templates=nothing,
        profiles=nothing,
        keys=nothing,
        pepper=PEPPER,
        clock=nothing,
        opt_in_enabled=True,
        forecasts=nothing,
    )
    values: dict[str, Any] = {"destination": "5547991000000", "draft": Draft(text="oi"), **request}
    claim = prepare.claim(SendRequest(**values), caller, "k1")
    assert claim is not None
    return claim


def test_case_47_a_key_means_the_same_within_one_project_environment_and_number_only() -> None:
    claim = claimed()
    assert claimed(replace(CALLER, key_id=uuid7())) == claim, "another key of the same"
    for other in (
        replace(CALLER, project_id=uuid7()),
        replace(TESTER, key_id=CALLER.key_id),
        replace(CALLER, number=replace(NUMBER, number_id=uuid7())),
    ):
        assert claimed(other).scope != claim.scope
    assert claimed(draft=Draft(text="outro")).fingerprint != claim.fingerprint


def test_case_47_a_key_is_answered_for_by_what_it_was_used_for() -> None:
    receipt = Receipt(message_id=uuid7(), correlation_id="c", accepted_at=NOW, origin="Loja", source_number=None)
    remembered = Remembered(fingerprint="a", receipt=receipt)
    assert replay(remembered, fingerprint="a") is receipt
    for known, refusal in (
        (remembered, Refusal.IDEMPOTENCY_KEY_REUSED),
        (None, Refusal.IDEMPOTENCY_KEY_IN_USE),
    ):
        refused = replay(known, fingerprint="b")
        assert isinstance(refused, RefusedError)
        assert refused.refusal is refusal
