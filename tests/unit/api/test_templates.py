"""The template grammar: filled once, complete or refused, values inert."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.refusals import Refusal, RefusedError
from api.templates.domain import body_to_send, render, variables_of
from contracts.values import Environment

from .people import TEMPLATE

BODY = "Oi {{nome}}, codigo {{ codigo }}"


def missing(body: str, **values: str | int | float | bool | None) -> str:
    with pytest.raises(RefusedError) as raised:
        render(body, values)
    assert raised.value.refusal is Refusal.MISSING_TEMPLATE_VARIABLES
    assert raised.value.field == "variables"
    return raised.value.sentence


@pytest.mark.parametrize(
    "name",
    ["{{codigo}}", "{{nome}}", "{{{{codigo}}}}", r"%(codigo)s ${codigo} {0} \1 \g<1>", "<b>&amp;</b>", "a\\u0000b"],
)
def test_case_22_values_are_inert(name: str) -> None:
    for order in permutations([("nome", name), ("codigo", "1234")]):
        assert render(BODY, dict(order)) == f"Oi {name}, codigo 1234"


@given(st.text(min_size=1).filter(lambda text: bool(text.strip())))
def test_case_22_any_value_appears_exactly_as_given(value: str) -> None:
    assert render("<{{nome}}>", {"nome": value}) == f"<{value}>"


@pytest.mark.parametrize("value", [None, "", "   ", "\t\n"])
def test_case_23_null_empty_and_blank_are_missing(value: str | None) -> None:
    assert missing("{{nome}} {{valor}}", nome=value, valor=1).endswith(": `nome`.")


def test_case_23_every_missing_name_is_named_once() -> None:
    assert missing("{{nome}} {{valor}} {{nome}}").endswith(": `nome`, `valor`.")


def test_case_23_names_are_exact() -> None:
    values: dict[str, str | int | float | bool | None] = {"nome ": "Ana", "Nome": "Ana"}
    assert missing("{{nome}}", **values).endswith(": `nome`.")


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (-1, "-1"), (1.5, "1.5"), ("0", "0")])
def test_case_23_falsy_is_not_missing(value: float | str, text: str) -> None:
    assert render("{{valor}}", {"valor": value}) == text


@pytest.mark.parametrize("value", [True, False])
def test_case_23_a_boolean_is_refused_by_name(value: bool) -> None:
    assert "`valor`" in missing("{{valor}}", valor=value)


def test_what_is_no_placeholder_stays_and_unused_values_are_ignored() -> None:
    assert render("{nome} {{ 1x }} {{}} {{a b}} {{{nome}}}", {"nome": "x"}) == "{nome} {{ 1x }} {{}} {{a b}} {x}"
    assert render("plain", {"nome": "x"}) == "plain"


def test_variables_are_named_in_order_of_appearance() -> None:
    assert variables_of("{{b}} {{a}} {{ b }} {{c}}") == ("b", "a", "c")


def test_only_an_existing_approved_template_is_sent() -> None:
    cases = (
        (None, Environment.TEST, Refusal.TEMPLATE_NOT_FOUND),
        (replace(TEMPLATE, body=None), Environment.TEST, Refusal.NO_APPROVED_VERSION),
        (replace(TEMPLATE, production_approved=False), Environment.LIVE, Refusal.TEMPLATE_NOT_APPROVED_FOR_PRODUCTION),
    )
    for template, environment, refusal in cases:
        with pytest.raises(RefusedError) as raised:
            body_to_send(template, environment)
        assert raised.value.refusal is refusal
    assert body_to_send(replace(TEMPLATE, production_approved=False), Environment.TEST) == TEMPLATE.body
    assert body_to_send(TEMPLATE, Environment.LIVE) == TEMPLATE.body
