"""Wires the messages of the api: accepting, reading, following."""

from uuid import UUID

from fastapi import APIRouter

from api.app.parts import Parts
from api.messages import routes as message_routes
from api.messages import subscribers as message_subscribers
from api.messages.usecases.accept_message import AcceptMessage, store_accepted
from api.messages.usecases.follow_progress import FollowProgress, fold
from api.messages.usecases.read_message import ReadMessage
from api.templates.domain import Template
from api.templates.usecases import FindTemplate
from chassis.clock import utc_now
from chassis.group_commit import GroupCommit
from chassis.ttl_cache import TtlCache


def routes(parts: Parts) -> APIRouter:
    """The public routes of messages."""
    settings = parts.settings
    accepting = GroupCommit(
        parts.database,
        store_accepted,
        name="accept",
        size_max=settings.accept_batch_max,
        linger_ms=settings.accept_linger_ms,
    )
    parts.stages.append(accepting)
    templates: TtlCache[tuple[UUID, str], Template] = TtlCache(ttl_seconds=settings.configuration_ttl_seconds)
    accept = AcceptMessage(
        templates=FindTemplate(database=parts.database, templates=templates),
        commits=accepting,
        keys=parts.keys,
        pepper=parts.pepper,
        clock=utc_now,
    )
    return message_routes.router(parts.authenticate, accept, ReadMessage(database=parts.database, keys=parts.keys))


def listen(parts: Parts) -> None:
    """Follow what is said about messages."""
    following = GroupCommit(parts.database, fold, name="follow", commits_max=1)
    parts.stages.append(following)
    message_subscribers.subscribe(parts.broker, FollowProgress(commits=following))
