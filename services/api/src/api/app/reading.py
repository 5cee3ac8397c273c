"""Wires what is read and canceled of messages, and the one writer of their public status."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.messages import subscribers as message_subscribers
from api.messages.adapters import BrokerQuestions
from api.messages.routes import canceling, listing, reading
from api.messages.usecases.cancel_messages import CancelByReference
from api.messages.usecases.confine import Confine
from api.messages.usecases.explain_message import Explain
from api.messages.usecases.follow_progress import FollowProgress, fold
from api.messages.usecases.list_messages import ListMessages
from api.messages.usecases.read_history import ReadHistory
from api.messages.usecases.read_message import ReadMessage
from chassis.clock import utc_now
from chassis.group_commit import GroupCommit


def following(parts: Parts) -> FollowProgress:
    """The one writer of public statuses; it hears what the other services say."""
    commits = GroupCommit(parts.database, fold, name="follow", commits_max=1)
    parts.stages.append(commits)
    follow = FollowProgress(commits=commits)
    message_subscribers.subscribe(parts.broker, follow)
    return follow


def routes(parts: Parts, follow: FollowProgress) -> APIRouter:
    """The public routes that read and cancel; to be mounted last, for one takes any path below /messages."""
    database, keys = parts.database, parts.keys
    questions = BrokerQuestions(asker=parts.asker, timeout_seconds=parts.settings.question_timeout_seconds)
    confine = Confine(database=database)
    cancel = CancelByReference(database=database, questions=questions, follow=follow)
    many = ListMessages(database=database, keys=keys, pepper=parts.pepper)
    history = ReadHistory(database=database, keys=keys, clock=utc_now)
    one = ReadMessage(database=database, keys=keys)
    explain = Explain(database=database, questions=questions)
    router = APIRouter()
    router.include_router(canceling.router(parts.authenticate, confine, cancel))
    router.include_router(listing.router(parts.authenticate, confine, many, history))
    router.include_router(reading.router(parts.authenticate, confine, one, explain))
    return router
