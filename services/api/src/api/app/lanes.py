"""Wires the description of lanes: a question to the dispatcher."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.lanes import routes as lane_routes
from api.lanes.usecases import DescribeNumber
from api.messages.adapters import BrokerQuestions


def routes(parts: Parts) -> APIRouter:
    """Routes below /v1/admin that describe a number's lane."""
    questions = BrokerQuestions(asker=parts.asker, timeout_seconds=parts.settings.question_timeout_seconds)
    return lane_routes.router(DescribeNumber(database=parts.database, questions=questions))
