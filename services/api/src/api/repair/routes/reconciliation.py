"""The operators' door to the books."""

from typing import Any

from fastapi import APIRouter
from pydantic import AwareDatetime

from api.repair.schemas import books_body
from api.repair.usecases.balance_books import BalanceBooks


def router(books: BalanceBooks) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: reconciliation"])

    @routes.get("/reconciliation")
    async def report_reconciliation(
        since: AwareDatetime | None = None, until: AwareDatetime | None = None
    ) -> dict[str, Any]:
        """The api's book beside the ledger's, by tenant and hour; each message they disagree about is named."""
        found, ledger = await books.report(since, until)
        return books_body(found, ledger)

    return routes
