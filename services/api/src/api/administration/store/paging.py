"""How a list is cut into pages: newest first, by id."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Select

from api.administration.domain import Page


def paged(
    query: Select[Any], key: Column[Any], page: Page, *, wanted: Mapping[Column[Any], UUID | None]
) -> Select[Any]:
    """The page's rows that fit; a condition of None is none."""
    for column, value in wanted.items():
        query = query.where(column == value) if value is not None else query
    if page.after is not None:
        query = query.where(key < page.after)
    return query.order_by(key.desc()).limit(page.limit)
