"""Wires what a client does with the templates of its project."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.templates.routes import reading, writing
from api.templates.usecases.write_templates import WriteTemplates


def routes(parts: Parts) -> APIRouter:
    """The public routes of templates."""
    templates = WriteTemplates(database=parts.database)
    router = APIRouter()
    router.include_router(reading.router(parts.authenticate, templates))
    router.include_router(writing.router(parts.authenticate, templates))
    return router
