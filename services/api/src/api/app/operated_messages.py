"""Wires what operators do with messages of all tenants."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.messages.adapters import BrokerQuestions
from api.messages.routes import operating, reprocessing
from api.messages.usecases.cancel_messages import CancelByReference
from api.messages.usecases.explain_message import Explain
from api.messages.usecases.follow_progress import FollowProgress
from api.messages.usecases.operate_messages import CancelOne, FindAnywhere
from api.messages.usecases.reprocess_message import ReprocessMessage
from api.operators.routes.guard import Guard
from chassis.clock import utc_now


def routers(guard: Guard, parts: Parts, follow: FollowProgress) -> list[APIRouter]:
    """Routes below /v1/admin/messages."""
    changing, database, settings = guard.door.database, parts.database, parts.settings
    questions = BrokerQuestions(asker=parts.asker, timeout_seconds=settings.question_timeout_seconds)
    cancel = CancelByReference(database=database, questions=questions, follow=follow)
    return [
        operating.router(FindAnywhere(database=database), Explain(database=database, questions=questions), utc_now),
        operating.canceling_router(guard, FindAnywhere(database=changing), CancelOne(cancel=cancel)),
        reprocessing.router(
            guard, ReprocessMessage(database=changing, clock=utc_now, opt_in_enabled=settings.opt_in_enabled)
        ),
    ]
