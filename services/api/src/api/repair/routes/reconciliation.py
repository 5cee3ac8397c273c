"""The operators' door to the books."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api.repair.schemas import books_body
from api.repair.usecases.balance_books import BalanceBooks


def router(books: BalanceBooks) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: reconciliation"])

    @routes.get("/reconciliation")
    async def report_reconciliation(
        since: AwareDatetime | None = None,
        until: AwareDatetime | None = None,
        tenant_id: Annotated[UUID | None, Query(alias="tenantId")] = None,
    ) -> dict[str, Any]:
        """The api's book beside the ledger's, by tenant and hour; each message they disagree about is named.

        Of many accounts that disagree the first ones are compared message by message; ask by tenant for the others.
        """
        found, ledger = await books.report(since, until, tenant_id=tenant_id)
        return books_body(found, ledger)

    return routes
