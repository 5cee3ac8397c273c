"""Committed JSON Schemas are what the code says, and a breaking edit is refused."""

import copy
import json
from typing import Any

import pytest

from contracts.__main__ import SCHEMAS, render
from contracts.compatibility import breaking_changes
from contracts.registry import ENTRIES

TYPES = [entry.statement for entry in ENTRIES]


@pytest.mark.parametrize("statement", TYPES, ids=lambda statement: statement.TYPE)
def test_committed_schema_is_current(statement: Any) -> None:
    committed = (SCHEMAS / f"{statement.TYPE}.json").read_text()
    assert breaking_changes(json.loads(committed), json.loads(render(statement))) == []
    assert committed == render(statement), "run `python -m contracts`"


def test_no_schema_without_a_statement() -> None:
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {statement.TYPE for statement in TYPES}


def accepted() -> dict[str, Any]:
    return json.loads((SCHEMAS / "message.accepted.v1.json").read_text())  # type: ignore[no-any-return]


def remove_field(schema: dict[str, Any]) -> None:
    del schema["properties"]["sealed"]
    schema["required"].remove("sealed")


def require_more(schema: dict[str, Any]) -> None:
    schema["properties"]["colour"] = {"type": "string"}
    schema["required"].append("colour")


def change_type(schema: dict[str, Any]) -> None:
    schema["properties"]["urgent"] = {"type": "string"}


def drop_enum_value(schema: dict[str, Any]) -> None:
    schema["$defs"]["Category"]["enum"].remove("OTP")


def narrow(schema: dict[str, Any]) -> None:
    schema["properties"]["tenant_weight"]["maximum"] = 5


def change_nested(schema: dict[str, Any]) -> None:
    del schema["$defs"]["MessageRef"]["properties"]["instance"]


@pytest.mark.parametrize(
    "edit",
    [remove_field, require_more, change_type, drop_enum_value, narrow, change_nested],
    ids=lambda edit: edit.__name__,
)
def test_breaking_edits_are_named(edit: Any) -> None:
    edited = copy.deepcopy(accepted())
    edit(edited)
    assert breaking_changes(accepted(), edited)


def test_additive_edits_pass() -> None:
    edited = copy.deepcopy(accepted())
    edited["properties"]["colour"] = {"type": "string", "default": "blue"}
    edited["$defs"]["Category"]["enum"].append("SERVICE")
    edited["properties"]["tenant_weight"]["maximum"] = 5_000
    assert breaking_changes(accepted(), edited) == []


def test_alternatives_and_items_may_grow_like_any_other_schema_and_no_more() -> None:
    def field(*alternatives: dict[str, Any]) -> dict[str, Any]:
        return {"properties": {"kind": {"anyOf": [*alternatives, {"type": "null"}]}}}

    old = field({"type": "string", "enum": ["a", "b"]})
    assert breaking_changes(old, field({"type": "string", "enum": ["a", "b", "c"]})) == []
    for breaking in ({"type": "string", "enum": ["a"]}, {"type": "integer", "enum": ["a", "b"]}):
        assert breaking_changes(old, field(breaking)), breaking
    assert breaking_changes(field({"type": "string"}), field({"type": "string", "format": "uuid"}))
    assert breaking_changes(old, {"properties": {"kind": {"anyOf": [{"type": "null"}]}}})
    one: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    more = {**one, "properties": {**one["properties"], "b": {"type": "string", "default": ""}}}
    strict = {**more, "required": ["a", "b"]}
    for holder in ({"anyOf": [one, {"type": "null"}]}, {"type": "array", "items": one}):
        text = json.dumps(holder)
        assert breaking_changes(holder, json.loads(text.replace(json.dumps(one), json.dumps(more)))) == []
        assert breaking_changes(holder, json.loads(text.replace(json.dumps(one), json.dumps(strict))))
        assert breaking_changes(json.loads(text.replace(json.dumps(one), json.dumps(more))), holder)
    assert breaking_changes({"type": "array", "items": one}, {"type": "array"})
