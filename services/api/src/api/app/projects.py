"""Wires the projects of a tenant."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.projects import routes as project_routes
from api.projects.usecases import ManageProjects


def routes(parts: Parts) -> APIRouter:
    """The public routes of projects."""
    return project_routes.router(parts.authenticate, ManageProjects(database=parts.database))
