"""Reads the schema of an answer off its example: names and kinds of its members, any of which may be null."""

from typing import Any, Final

Schema = dict[str, Any]

_OPTIONAL: Final = frozenset(
    {"template", "notice", "redacted", "lastValidatedAt", "checkedAt", "lastKnownAt", "details", "estimatedDispatchAt"}
)
"""Members that are there only sometimes."""
_FREE: Final = frozenset(
    {"before", "after", "payload", "defaults", "examples", "detail", "headers", "openByEvidence", "verdictsLastDay"}
)
"""Members whose own members are not the same every time."""


def schema_of(example: Any, name: str = "") -> Schema:
    """A JSON Schema that the example and its like fit."""
    if isinstance(example, dict):
        if name in _FREE:
            return {"type": ["object", "null"]}
        schema: Schema = {
            "type": ["object", "null"] if name else "object",
            "properties": {member: schema_of(value, member) for member, value in example.items()},
        }
        required = sorted(set(example) - _OPTIONAL)
        return {**schema, "required": required} if required else schema
    if isinstance(example, list):
        items = {"items": _items(example)} if example and name not in _FREE else {}
        return {"type": ["array", "null"] if name else "array", **items}
    return _scalar(example, name)


def _items(examples: list[Any]) -> Schema:
    """One schema for each set of members that the items have."""
    kinds = {tuple(sorted(each)) if isinstance(each, dict) else (): schema_of(each) for each in examples}
    return next(iter(kinds.values())) if len(kinds) == 1 else {"anyOf": list(kinds.values())}


def _scalar(example: Any, name: str) -> Schema:
    if example is None:
        return {}
    kind = {bool: "boolean", int: "number", float: "number", str: "string"}[type(example)]
    return {"type": kind if name in ("id", "") else [kind, "null"]}
