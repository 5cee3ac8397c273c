"""Answers checked strictly against the official SDK's types, rebuilt so that pydantic takes them before Python 3.12."""

import types
import typing
from functools import cache, reduce
from operator import or_
from typing import Any, NotRequired, Required, Union

import typing_extensions
from pydantic import TypeAdapter


def fits(kind: Any, value: object) -> None:
    """Raises pydantic's ValidationError unless `value` is exactly a `kind`, unknown keys aside."""
    _adapter(kind).validate_python(value, strict=True)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(_rebuilt(kind))


def _rebuilt(kind: Any) -> Any:
    """The same type, its TypedDicts written anew."""
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = {name: _field(hint, total=kind.__total__) for name, hint in hints.items()}
        return typing_extensions.TypedDict(kind.__name__, fields)  # type: ignore[operator]
    origin, parts = typing.get_origin(kind), tuple(_rebuilt(part) for part in typing.get_args(kind))
    if origin in (Union, types.UnionType):
        return reduce(or_, parts)
    return origin[parts] if origin in (list, dict) else kind


def _field(hint: Any, *, total: bool) -> Any:
    origin = typing.get_origin(hint)
    marked = origin if origin in (Required, NotRequired) else (Required if total else NotRequired)
    inner = typing.get_args(hint)[0] if origin in (Required, NotRequired) else hint
    return marked[_rebuilt(inner)]
