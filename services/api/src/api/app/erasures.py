"""Wires the forgetting of recipients: the operators' door, and the loop that carries it out."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.erasures import routes as erasure_routes
from api.erasures.usecases import CarryOutErasures, ReadErasure, RequestErasure
from api.messages.adapters import BrokerQuestions
from api.messages.usecases.cancel_messages import CancelByReference
from api.messages.usecases.follow_progress import FollowProgress, fold
from api.operators.routes.guard import Guard
from chassis.clock import utc_now
from chassis.group_commit import GroupCommit
from chassis.loop import Loop

LOOK_SECONDS = 5.0


def routes(guard: Guard, parts: Parts) -> APIRouter:
    """Routes below /v1/admin/recipients."""
    database, timeout = parts.database, parts.settings.question_timeout_seconds
    following = GroupCommit(database, fold, name="follow-erasures", commits_max=1)
    cancels = CancelByReference(
        database=database,
        questions=BrokerQuestions(asker=parts.asker, timeout_seconds=timeout),
        follow=FollowProgress(commits=following),
    )
    carry_out = CarryOutErasures(database=database, cancels=cancels, clock=utc_now)
    loop = Loop("erase-recipients", carry_out.step, interval_seconds=LOOK_SECONDS)
    parts.stages += [following, loop]
    request = RequestErasure(database=guard.door.database, keys=parts.keys, pepper=parts.pepper, clock=utc_now)
    return erasure_routes.router(guard, request, ReadErasure(database=database), requested=loop.wake)
