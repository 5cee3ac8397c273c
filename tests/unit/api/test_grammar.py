"""The template grammar: filled once, complete or refused, values inert."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.content.domain.blueprint import blueprint_of
from api.content.domain.grammar import variables_of
from api.refusals import Refusal, RefusedError

BODY = "Oi {{nome}}, codigo {{ codigo }}"


def render(body: str, values: dict[str, object], **defaults: str) -> str:
    blueprint = blueprint_of(body)
    assert blueprint.draft.text == body
    return type(blueprint)(draft=blueprint.draft, defaults=defaults).fill(values).text


def refused(body: str, values: dict[str, object]) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        render(body, values)
    return raised.value


def missing(body: str, **values: object) -> str:
    error = refused(body, values)
    assert (error.refusal, error.field) == (Refusal.MISSING_TEMPLATE_VARIABLES, "variables")
    return error.sentence


@pytest.mark.parametrize(
    "name",
    ["{{codigo}}", "{{nome}}", "{{{{codigo}}}}", r"%(codigo)s ${codigo} {0} \1 \g<1>", "<b>&amp;</b>", "a\\u0000b"],
)
def test_case_22_values_are_inert(name: str) -> None:
    for order in permutations([("nome", name), ("codigo", "1234")]):
        assert render(BODY, dict(order)) == f"Oi {name}, codigo 1234"


@given(st.text(min_size=1).filter(lambda text: bool(text.strip()) and "\x00" not in text))
def test_case_22_any_value_appears_exactly_as_given(value: str) -> None:
    assert render("<{{nome}}>", {"nome": value}) == f"<{value}>"


@pytest.mark.parametrize("value", [None, "", "   ", "\t\n"])
def test_case_23_null_empty_and_blank_are_missing_unless_there_is_a_default(value: str | None) -> None:
    assert missing("{{nome}} {{valor}}", nome=value, valor=1).endswith(": `nome`.")
    assert render("{{nome}}", {"nome": value}, nome="cliente") == "cliente"


def test_case_23_a_value_wins_over_the_default() -> None:
    assert render("{{nome}} {{valor}}", {"nome": "Ana", "valor": 0}, nome="cliente", valor="9") == "Ana 0"
    assert render("{{nome}}", {}, nome="cliente") == "cliente"


def test_case_23_every_missing_name_is_named_once() -> None:
    assert missing("{{nome}} {{valor}} {{nome}}").endswith(": `nome`, `valor`.")


def test_case_23_names_are_exact() -> None:
    assert missing("{{nome}}", **{"nome ": "Ana", "Nome": "Ana"}).endswith(": `nome`.")


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (-1, "-1"), (1.5, "1.5"), ("0", "0"), (0.0, "0.0")])
def test_case_23_falsy_is_not_missing(value: float | str, text: str) -> None:
    assert render("{{valor}}", {"valor": value}) == text


@pytest.mark.parametrize("value", [True, False, ["a"], [], {}, {"a": 1}, float("nan"), float("inf")])
def test_case_23_what_is_no_text_and_no_number_is_a_type_error(value: object) -> None:
    error = refused("{{valor}}", {"valor": value})
    assert (error.refusal, error.field) == (Refusal.VARIABLE_INVALID, "variables.valor")


def test_a_wrong_type_that_the_template_does_not_use_does_no_harm() -> None:
    assert render("{{nome}}", {"nome": "Ana", "other": ["x"]}) == "Ana"


def test_what_is_no_placeholder_stays_and_unused_values_are_ignored() -> None:
    assert render("{nome} {{ 1x }} {{}} {{a b}} {{{nome}}}", {"nome": "x"}) == "{nome} {{ 1x }} {{}} {{a b}} {x}"
    assert render("plain", {"nome": "x"}) == "plain"


def test_variables_are_named_in_order_of_appearance() -> None:
    assert variables_of("{{b}} {{a}} {{ b }} {{c}}") == ("b", "a", "c")


def test_case_23_a_blank_default_is_no_value() -> None:
    with pytest.raises(RefusedError) as raised:
        render("{{nome}}", {}, nome=" ")
    assert raised.value.refusal is Refusal.MISSING_TEMPLATE_VARIABLES
