"""Tells a breaking edit of the OpenAPI document from an additive one, seen from clients that ignore unknown members."""

from collections.abc import Iterator
from typing import Any

from contracts.compatibility import breaking_changes as schema_changes

Document = dict[str, Any]

_NO_BODY: dict[str, Any] = {}


def breaking_changes(old: Document, new: Document) -> list[str]:
    """Sentences on everything in `new` that would break a client of `old`; empty if it is additive."""
    return list(_of_document(old, new))


def _of_document(old: Document, new: Document) -> Iterator[str]:
    for path, methods in old["paths"].items():
        for method, operation in methods.items():
            name, now = f"{method.upper()} {path}", new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{name}: removed"
                continue
            yield from _of_parameters(name, operation, now, old, new)
            yield from _of_body(name, operation, now, old, new)
            yield from _of_answers(name, operation, now)


def _of_parameters(name: str, old: Document, new: Document, was: Document, now: Document) -> Iterator[str]:
    before = {(each["in"], each["name"]): each for each in old.get("parameters", [])}
    after = {(each["in"], each["name"]): each for each in new.get("parameters", [])}
    for key, parameter in after.items():
        if parameter.get("required") and not before.get(key, {}).get("required"):
            yield f"{name}: parameter {key[1]} became required"
    for key, parameter in before.items():
        if key not in after:
            yield f"{name}: parameter {key[1]} removed"
        else:
            changes = _changes(parameter["schema"], after[key]["schema"], was, now)
            yield from (f"{name}: parameter {key[1]} {change}" for change in changes)


def _of_body(name: str, old: Document, new: Document, was: Document, now: Document) -> Iterator[str]:
    before, after = _schema(old.get("requestBody")), _schema(new.get("requestBody"))
    if new.get("requestBody", {}).get("required") and not old.get("requestBody", {}).get("required"):
        yield f"{name}: a body became required"
    yield from (f"{name}: body {change}" for change in _changes(before, after, was, now))


def _of_answers(name: str, old: Document, new: Document) -> Iterator[str]:
    for status, response in old["responses"].items():
        if status not in new["responses"]:
            if status.startswith("2"):
                yield f"{name}: no longer answers {status}"
        elif status.startswith("2"):
            changes = _changes_of_answer(_schema(response), _schema(new["responses"][status]), "$")
            yield from (f"{name}: answer {change}" for change in changes)
            yield from _kind(name, response, new["responses"][status])


def _changes_of_answer(before: Document, after: Document, place: str) -> Iterator[str]:
    """An answer may gain members, at any depth and always there; a client that ignores them sees no difference."""
    nested = ("properties", "required", "items", "anyOf")
    flat_before, flat_after = ({key: part[key] for key in part if key not in nested} for part in (before, after))
    yield from (change.replace("$", place, 1) for change in schema_changes(flat_before, flat_after))
    yield from (f"{place}: {name} is no longer always there" for name in _lost(before, after, "required"))
    yield from (f"{place}.{name}: removed" for name in _lost(before, after, "properties"))
    for name, schema in before.get("properties", {}).items():
        if name in after.get("properties", {}):
            yield from _changes_of_answer(schema, after["properties"][name], f"{place}.{name}")
    if "items" in before:
        yield from _changes_of_answer(before["items"], after.get("items", {}), f"{place}[]")
    kinds, kinds_now = before.get("anyOf", []), after.get("anyOf", [])
    if len(kinds) != len(kinds_now):
        yield f"{place}: anyOf changed"
        return
    for kind, kind_now in zip(kinds, kinds_now, strict=True):
        yield from _changes_of_answer(kind, kind_now, place)


def _lost(before: Document, after: Document, keyword: str) -> list[str]:
    return [name for name in before.get(keyword, ()) if name not in after.get(keyword, ())]


def _kind(name: str, old: Document, new: Document) -> Iterator[str]:
    if _schema(old).get("type") != _schema(new).get("type"):
        yield f"{name}: answer has another type"


def _changes(before: Document, after: Document, was: Document, now: Document) -> list[str]:
    return schema_changes(
        {**before, "$defs": was["components"]["schemas"]}, {**after, "$defs": now["components"]["schemas"]}
    )


def _schema(part: Document | None) -> Document:
    content = (part or _NO_BODY).get("content", {})
    schema: Document = content.get("application/json", {}).get("schema", {})
    return schema
