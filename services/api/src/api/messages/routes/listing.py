"""The public door for lists of messages: the log and the history of a number."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from api.access.domain import Caller
from api.access.usecases import Authenticate
from api.messages.domain.listing import Filters
from api.messages.domain.scope import Scope
from api.messages.routes.confined import caller_by, scope_by
from api.messages.schemas.listing import HistoryQuery, ListQuery, history_body
from api.messages.schemas.reading import page_body
from api.messages.usecases.confine import Confine
from api.messages.usecases.list_messages import ListMessages
from api.messages.usecases.read_history import ReadHistory
from api.recipients.domain.destination import normalise


def router(authenticate: Authenticate, confine: Confine, listing: ListMessages, history: ReadHistory) -> APIRouter:
    """Routes below /v1/messages that list."""
    routes = APIRouter(tags=["messages"])
    known_caller = caller_by(authenticate)
    confined = scope_by(known_caller, confine)

    @routes.get("/messages")
    async def list_messages(
        scope: Annotated[Scope, Depends(confined)], query: Annotated[ListQuery, Query()]
    ) -> dict[str, Any]:
        """Messages that fit all filters, newest first; go on with `cursor` and the same filters."""
        filters = _filters(query, listing)
        return page_body(await listing.page(scope, filters, cursor=query.cursor, limit=query.limit))

    @routes.get("/messages/history")
    async def get_history(
        caller: Annotated[Caller, Depends(known_caller)],
        scope: Annotated[Scope, Depends(confined)],
        query: Annotated[HistoryQuery, Query()],
    ) -> dict[str, Any]:
        """What the key's number has handed over to WhatsApp, newest first; counting stops at 100,000."""
        page = await history.page(scope, caller.number, query.period(), query.request())
        return history_body(page, query.request())

    return routes


def _filters(query: ListQuery, listing: ListMessages) -> Filters:
    phone = query.phone()
    return Filters(
        statuses=frozenset(query.status),
        category=query.category,
        environment=query.environment,
        accepted=query.accepted(),
        recipient_hash=listing.recipient_hash(normalise(phone, field="destination")) if phone is not None else None,
        label=query.label,
        template=query.template,
        number_id=query.number,
    )
