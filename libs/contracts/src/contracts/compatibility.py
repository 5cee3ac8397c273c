"""Tells a breaking edit of a JSON Schema from an additive one, seen from consumers that ignore unknown fields."""

from typing import Any

Schema = dict[str, Any]

_CONFINING = ("format", "pattern", "const", "enum")
"""Keywords that allow less than their absence."""


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """Sentences on everything in `new` that would break a reader or writer of `old`; empty if it is additive."""
    return list(_compare(old, new, old.get("$defs", {}), new.get("$defs", {}), "$"))


def _compare(old: Schema, new: Schema, old_defs: Schema, new_defs: Schema, place: str) -> list[str]:
    old, new = _resolve(old, old_defs), _resolve(new, new_defs)
    found = [
        f"{place}: {keyword} changed"
        for keyword in ("type", "format", "pattern", "const")
        if keyword in old and _shape(old[keyword], old_defs) != _shape(new.get(keyword), new_defs)
    ]
    found += [f"{place}: {keyword} added" for keyword in _CONFINING if keyword in new and keyword not in old]
    found += _compare_parts(old, new, old_defs, new_defs, place)
    found += [
        f"{place}: value {value!r} removed" for value in old.get("enum", []) if value not in new.get("enum", [value])
    ]
    found += [
        f"{place}: {name} became required" for name in new.get("required", []) if name not in old.get("required", [])
    ]
    found += [
        f"{place}: {name} is no longer always there"
        for name in old.get("required", [])
        if name not in new.get("required", [])
    ]
    found += _narrowed(old, new, place)
    for name, schema in old.get("properties", {}).items():
        if name not in new.get("properties", {}):
            found.append(f"{place}.{name}: removed")
        else:
            found += _compare(schema, new["properties"][name], old_defs, new_defs, f"{place}.{name}")
    return found


def _compare_parts(old: Schema, new: Schema, old_defs: Schema, new_defs: Schema, place: str) -> list[str]:
    """Of a list its items, of alternatives each in its place: they may grow as any other schema may."""
    found: list[str] = []
    for keyword, sign in (("items", "[]"), ("anyOf", "|")):
        before, after = (each.get(keyword, []) for each in (old, new))
        before, after = ([each] if isinstance(each, dict) else each for each in (before, after))
        if keyword not in old:
            continue
        if len(before) != len(after):
            found.append(f"{place}: {keyword} changed")
            continue
        for was, now in zip(before, after, strict=True):
            found += _compare(was, now, old_defs, new_defs, f"{place}{sign}")
    return found


def _narrowed(old: Schema, new: Schema, place: str) -> list[str]:
    upper = [
        key for key in ("maxLength", "maximum", "maxItems") if key in new and new[key] < old.get(key, float("inf"))
    ]
    lower = [
        key for key in ("minLength", "minimum", "minItems") if key in new and new[key] > old.get(key, float("-inf"))
    ]
    return [f"{place}: {key} narrowed" for key in upper + lower]


def _resolve(schema: Schema, defs: Schema) -> Schema:
    if "$ref" in schema:
        return {
            **defs[schema["$ref"].rsplit("/", 1)[1]],
            **{key: value for key, value in schema.items() if key != "$ref"},
        }
    return schema


def _shape(value: Any, defs: Schema) -> Any:
    """A value with references replaced and prose left out, so that only meaning is compared."""
    if isinstance(value, dict):
        resolved = _resolve(value, defs)
        return {
            key: _shape(item, defs) for key, item in resolved.items() if key not in ("title", "description", "default")
        }
    if isinstance(value, list):
        return [_shape(item, defs) for item in value]
    return value
