"""Addresses of the published contract that this platform does not serve: a plain 404 with a code, for every method."""

from fastapi import APIRouter, Depends

from api.access.schemas import ApiKey
from api.app.parts import Parts
from api.refusals import Refusal, RefusedError

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
RESOURCES = (
    "ads",
    "branding",
    "calls",
    "chatwoot",
    "conversations",
    "flows",
    "lead-pages",
    "leads",
    "mcp",
    "media",
    "newsletters",
    "phone-lines",
    "referrals",
    "remote-pairing",
    "subscription",
)
SINGLE = (
    "messages/group",
    "messages/typing",
    "messages/unread",
    "numbers/remote-pairing",
    "numbers/{number_id}/upgrade-to-dual",
)


def routes(parts: Parts) -> APIRouter:
    """Mounted before everything else, because some of these addresses look like a message's or a number's.

    A 404 and not a 501: the SDK sends a GET that is answered with 5xx three times.
    """

    async def known_caller(x_api_key: ApiKey = None) -> None:
        await parts.authenticate.caller(x_api_key)

    router = APIRouter(dependencies=[Depends(known_caller)], include_in_schema=False)

    async def answer_not_implemented() -> None:
        raise RefusedError(Refusal.NOT_IMPLEMENTED)

    paths = [*SINGLE, *RESOURCES, *(f"{resource}/{{rest:path}}" for resource in RESOURCES)]
    for path in paths:
        router.add_api_route(f"/{path}", answer_not_implemented, methods=METHODS)
    return router
