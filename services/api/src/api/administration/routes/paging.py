"""How a list of the operators is asked for, page by page."""

from typing import Annotated

from fastapi import Depends

from api.administration.domain import Page
from api.operators.schemas import Cursor, PageSize


def _page(cursor: Cursor = None, limit: PageSize = 50) -> Page:
    return Page(after=cursor, limit=limit)


AskedPage = Annotated[Page, Depends(_page)]
