"""Wires the figures."""

from fastapi import APIRouter

from api.analytics import routes as analytics_routes
from api.analytics.usecases import ShowDashboard
from api.app.parts import Parts
from chassis.clock import utc_now


def routes(parts: Parts) -> APIRouter:
    """The public routes of figures."""
    return analytics_routes.router(parts.authenticate, ShowDashboard(database=parts.database, clock=utc_now))
