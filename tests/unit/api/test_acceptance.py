"""Acceptance: what becomes of an admitted send, and which refusal comes first."""

from dataclasses import replace
from typing import Any

import pytest

from api.access.domain import Caller
from api.messages.domain.acceptance import Admitted, SendRequest, admit, check_caller
from api.refusals import Refusal, RefusedError
from api.templates.domain import Template
from contracts.values import Category, ConnectionState, Environment

from .people import CALLER, NOW, NUMBER, TEMPLATE, TESTER

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def try_to_admit(caller: Caller = CALLER, known: Template | None = TEMPLATE, **request: Any) -> Admitted:
    """`known` is what the request's template was found to be."""
    return admit(SendRequest(**request), caller=caller, template=known, now=NOW)


def refusal(caller: Caller = CALLER, known: Template | None = TEMPLATE, **request: Any) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        try_to_admit(caller, known, **request)
    return raised.value


def text_refusal(text: str) -> RefusedError:
    error = refusal(known=None, destination="+5547991000000", text=text)
    assert (error.refusal, error.field) == (Refusal.TEXT_INVALID, "text")
    return error


def test_a_template_becomes_a_text_of_its_category() -> None:
    admitted = try_to_admit(destination="+55 47 99100-0000", template="pedido", variables={"nome": "Ana", "valor": 10})
    assert admitted.content.to == "5547991000000"
    assert admitted.content.text == "Oi Ana, total 10"
    assert admitted.content.sender == NUMBER.phone
    assert (admitted.category, admitted.template_name) == (Category.OTP, "pedido")
    assert (admitted.deliver_until - admitted.deliver_by).total_seconds() == 120


def test_free_text_is_utility_and_reaches_the_gateway_as_given() -> None:
    text = "  Olá \U0001f44b <b>&amp;</b>\r\n\tfim  "
    admitted = try_to_admit(known=None, destination="+5547991000000", text=text)
    assert admitted.content.text == text
    assert (admitted.category, admitted.template_name) == (Category.UTILITY, None)


@pytest.mark.parametrize("character", ["a", "ç", "\U0001f600"])
def test_case_26_the_limit_counts_code_points(character: str) -> None:
    for length in (4_095, 4_096):
        admitted = try_to_admit(known=None, destination="+5547991000000", text=character * length)
        assert len(admitted.content.text) == length
    assert "4097" in text_refusal(character * 4_097).sentence
    assert "4096" in text_refusal(character * 4_097).sentence


def test_case_26_nothing_is_cut_at_the_limit() -> None:
    text = "x" * (4_096 - len(FAMILY)) + FAMILY
    assert try_to_admit(known=None, destination="+5547991000000", text=text).content.text == text
    text_refusal("x" + text)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0"])
def test_case_26_blank_text_is_refused(text: str) -> None:
    text_refusal(text)


def test_case_26_the_rendered_text_is_what_counts() -> None:
    error = refusal(destination="+5547991000000", template="pedido", variables={"nome": "x" * 10_000, "valor": 1})
    assert (error.refusal, error.field) == (Refusal.TEXT_INVALID, "variables")
    assert str(len("Oi , total 1") + 10_000) in error.sentence


@pytest.mark.parametrize("text", ["Ana\x00B", "half \ud83d"])
def test_case_10_nul_and_half_a_surrogate_pair_are_refused(text: str) -> None:
    text_refusal(text)
    error = refusal(destination="+5547991000000", template="pedido", variables={"nome": text, "valor": 1})
    assert (error.refusal, error.field) == (Refusal.TEXT_INVALID, "variables")


def test_case_10_text_that_spells_an_escape_is_text() -> None:
    text = "literally \\u0000"
    assert try_to_admit(known=None, destination="+5547991000000", text=text).content.text == text


def test_the_first_failing_check_answers() -> None:
    nowhere = replace(CALLER, number=None)
    bad: dict[str, Any] = {"destination": "x", "template": "t", "deliver_at": "never"}
    assert refusal(nowhere, None, **bad).refusal is Refusal.DESTINATION_INVALID
    bad["destination"] = "+5547991000000"
    assert refusal(nowhere, None, **bad).refusal is Refusal.TEMPLATE_NOT_FOUND
    assert refusal(nowhere, TEMPLATE, **bad).refusal is Refusal.MISSING_TEMPLATE_VARIABLES
    bad["variables"] = {"nome": "Ana", "valor": 1}
    assert refusal(nowhere, TEMPLATE, **bad).refusal is Refusal.DEFAULT_NUMBER_NOT_CONFIGURED
    assert refusal(CALLER, TEMPLATE, **bad).refusal is Refusal.SCHEDULE_INVALID


def test_a_bound_number_must_exist_and_be_open() -> None:
    send: dict[str, Any] = {"known": None, "destination": "+5547991000000", "text": "oi"}
    for state in (ConnectionState.CLOSE, ConnectionState.CONNECTING):
        bound = replace(CALLER, bound=True, number=replace(NUMBER, state=state))
        assert refusal(bound, **send).refusal is Refusal.NUMBER_NOT_OPEN
        assert try_to_admit(replace(bound, bound=False), **send).number.state is state
    assert refusal(replace(CALLER, bound=True, number=None), **send).refusal is Refusal.NUMBER_NOT_FOUND
    assert try_to_admit(replace(CALLER, bound=True), **send).number is NUMBER


def test_live_needs_an_approved_project_and_test_does_not() -> None:
    check_caller(CALLER)
    check_caller(TESTER)
    with pytest.raises(RefusedError) as raised:
        check_caller(replace(TESTER, environment=Environment.LIVE))
    assert raised.value.refusal is Refusal.PRODUCTION_NOT_APPROVED


def test_content_and_request_show_nothing_personal() -> None:
    request = SendRequest(destination="+5547991000000", text="secret text", variables={"nome": "Ana"})
    admitted = admit(request, caller=CALLER, template=None, now=NOW)
    for shown in (repr(request), repr(admitted), str(admitted.content)):
        assert not any(secret in shown for secret in ("5547991000000", "secret text", "Ana"))
