"""Wires what a client does with its API keys."""

from fastapi import APIRouter

from api.access import routes as key_routes
from api.access.usecases import ManageOwnKeys
from api.app.parts import Parts
from chassis.clock import utc_now


def routes(parts: Parts) -> APIRouter:
    """The public routes of API keys."""
    keys = ManageOwnKeys(database=parts.database, callers=parts.authenticate.callers, clock=utc_now)
    return key_routes.router(parts.authenticate, keys)
