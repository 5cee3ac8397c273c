"""What a client may save as a template, and in which state a version is moved on."""

from dataclasses import replace
from typing import Any

import pytest

from api.content.domain.blueprint import checked_blueprint
from api.refusals import Refusal, RefusedError
from api.templates.domain import (
    StoredTemplate,
    Version,
    VersionState,
    check_blueprint,
    check_category,
    check_state,
    next_version,
    normalise_name,
)
from contracts.ids import uuid7
from contracts.values import Category, Environment

from .people import NOW, PROJECT_ID

EXAMPLES = {"nome": "Ana", "pedido": "1"}
BODY = "Olá {{nome}}, pedido {{pedido}} pronto."
DRAFT = Version(version=1, state=VersionState.DRAFT, body=BODY, created_at=NOW)
STORED = StoredTemplate(
    template_id=uuid7(),
    project_id=PROJECT_ID,
    name="pedido",
    category=Category.UTILITY,
    environment=None,
    language="pt_BR",
    created_at=NOW,
    latest=DRAFT,
    approved=None,
)


def save(body: str | dict[str, Any], examples: dict[str, str] | None = None) -> None:
    blueprint, _ = checked_blueprint(body)
    check_blueprint(blueprint, EXAMPLES if examples is None else examples)


def url(address: str) -> dict[str, Any]:
    return {"body": BODY, "buttons": [{"type": "URL", "label": "Ver", "url": address}]}


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        "Olá " + "x" * 1_020,
        {"body": BODY, "footer": "x" * 60},
        {"body": BODY, "header": {"type": "text", "content": "x" * 60}},
        {"body": BODY, "header": {"type": "text", "content": "Pedido {{pedido}}"}},
        {"body": BODY, "header": {"type": "image", "content": "https://loja.example/a.png"}},
        url("https://loja.example/{{pedido}}"),
        url("https://loja.example/"),
    ],
)
def test_what_may_be_saved(body: str | dict[str, Any]) -> None:
    save(body)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("Olá " + "x" * 1_021, "body.body"),
        ("{{nome}}, olá {{pedido}}.", "body.body"),
        ("Olá {{nome}}, {{pedido}} ", "body.body"),
        ({"body": BODY, "footer": "de {{nome}}"}, "body.footer"),
        ({"body": BODY, "header": {"type": "text", "content": "x" * 61}}, "body.header"),
        ({"body": BODY, "header": {"type": "text", "content": "{{nome}} {{pedido}}"}}, "body.header"),
        ({"body": BODY, "header": {"type": "image", "content": "https://loja.example/{{nome}}"}}, "body.header"),
        (url("https://loja.example/{{nome}}/x"), "body.buttons.0"),
        (url("https://loja.example/{{nome}}{{pedido}}"), "body.buttons.0"),
    ],
)
def test_what_may_not_be_saved_is_refused_by_field(body: str | dict[str, Any], field: str) -> None:
    with pytest.raises(RefusedError) as refused:
        save(body)
    assert (refused.value.refusal, refused.value.field) == (Refusal.TEMPLATE_INVALID, field)


@pytest.mark.parametrize("examples", [{}, {"nome": "Ana"}, {"nome": "Ana", "pedido": " "}])
def test_every_variable_has_an_example(examples: dict[str, str]) -> None:
    with pytest.raises(RefusedError) as refused:
        save(BODY, examples)
    assert refused.value.refusal is Refusal.TEMPLATE_EXAMPLES_REQUIRED


def test_a_template_that_is_too_long_is_not_even_read() -> None:
    with pytest.raises(RefusedError) as refused:
        checked_blueprint({"body": "oi", "ignored": "x" * 20_000})
    assert (refused.value.refusal, refused.value.field) == (Refusal.TEMPLATE_INVALID, "body")


@pytest.mark.parametrize("name", ["", " ", "ação", "_", "a" * 101, "a\x00b"])
def test_a_name_is_letters_and_digits(name: str) -> None:
    assert normalise_name(" Pedido pronto-1 ") == "Pedido_pronto_1"
    with pytest.raises(RefusedError) as refused:
        normalise_name(name)
    assert (refused.value.refusal, refused.value.field) == (Refusal.TEMPLATE_INVALID, "name")


def test_a_template_keeps_its_category() -> None:
    check_category(STORED, None)
    check_category(STORED, Category.UTILITY)
    with pytest.raises(RefusedError) as refused:
        check_category(STORED, Category.MARKETING)
    assert (refused.value.refusal, refused.value.field) == (Refusal.TEMPLATE_INVALID, "category")


@pytest.mark.parametrize("state", VersionState)
def test_only_a_draft_or_a_rejected_version_is_written_over(state: VersionState) -> None:
    template = replace(STORED, latest=replace(DRAFT, version=3, state=state))
    assert next_version(template) == (3 if state in (VersionState.DRAFT, VersionState.REJECTED) else 4)
    assert next_version(replace(STORED, latest=None)) == 1


def test_a_version_moves_on_from_the_state_that_allows_it() -> None:
    assert check_state(DRAFT, VersionState.DRAFT, VersionState.REJECTED) is DRAFT
    for version, refusal in (
        (None, Refusal.TEMPLATE_VERSION_NOT_FOUND),
        (replace(DRAFT, state=VersionState.APPROVED), Refusal.TEMPLATE_STATE_CONFLICT),
    ):
        with pytest.raises(RefusedError) as refused:
            check_state(version, VersionState.DRAFT, VersionState.REJECTED)
        assert refused.value.refusal is refusal


def test_what_can_be_sent_depends_on_the_environment() -> None:
    approved = replace(DRAFT, state=VersionState.APPROVED)
    assert not STORED.sendable(Environment.TEST)
    template = replace(STORED, approved=approved)
    assert (template.sendable(Environment.TEST), template.sendable(Environment.LIVE)) == (True, False)
    released = replace(template, approved=replace(approved, production_approved=True))
    assert released.sendable(Environment.LIVE)
    assert not replace(released, environment=Environment.TEST).sendable(Environment.LIVE)
