"""Wires the webhook endpoints: questions to the notifier."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.webhooks import routes as webhook_routes
from api.webhooks.adapters import NotifierQuestions
from api.webhooks.usecases import ManageEndpoints


def routes(parts: Parts) -> APIRouter:
    """The public routes of webhook endpoints."""
    questions = NotifierQuestions(asker=parts.asker, timeout_seconds=parts.settings.question_timeout_seconds)
    endpoints = ManageEndpoints(questions=questions, keys=parts.keys, database=parts.database)
    return webhook_routes.router(parts.authenticate, endpoints)
