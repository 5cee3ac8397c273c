"""Wires the webhook endpoints: questions to the notifier, for customers and for operators."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.operators.routes.guard import Guard
from api.webhooks import subscribers
from api.webhooks.adapters import NotifierQuestions
from api.webhooks.routes import deliveries, endpoints, operating
from api.webhooks.usecases.manage_endpoints import ManageEndpoints
from api.webhooks.usecases.operate_endpoints import OperateEndpoints
from api.webhooks.usecases.replay_deliveries import ReplayOwn


def routes(parts: Parts) -> APIRouter:
    """The public routes of webhook endpoints and of what was delivered to them."""
    manage = ManageEndpoints(questions=_questions(parts), keys=parts.keys, database=parts.database)
    router = APIRouter()
    router.include_router(endpoints.router(parts.authenticate, manage))
    router.include_router(deliveries.router(parts.authenticate, ReplayOwn(endpoints=manage)))
    return router


def operators_routes(parts: Parts, guard: Guard) -> APIRouter:
    """The same for operators, of every tenant."""
    return operating.router(guard, OperateEndpoints(questions=_questions(parts)))


def listen(parts: Parts) -> None:
    """Hear which endpoints are switched off."""
    subscribers.subscribe(parts.broker)


def _questions(parts: Parts) -> NotifierQuestions:
    return NotifierQuestions(asker=parts.asker, timeout_seconds=parts.settings.question_timeout_seconds)
