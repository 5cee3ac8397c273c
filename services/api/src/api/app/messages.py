"""Wires the accepting of messages, and the consent that some of them need."""

from uuid import UUID

from fastapi import APIRouter

from api.app.mounting import PREFIXES, refusal_answer
from api.app.parts import Parts
from api.messages.adapters import BrokerQuestions
from api.messages.domain.acceptance import NewMessage
from api.messages.domain.receipt import Receipt
from api.messages.routes import sending
from api.messages.routes.shortcut import SendShortcut
from api.messages.usecases.accept_message import AcceptMessage
from api.messages.usecases.forecast_dispatch import ForecastDispatch
from api.messages.usecases.forget_keys import ForgetKeys
from api.messages.usecases.prepare_message import PrepareMessage
from api.messages.usecases.store_accepted import store_accepted
from api.optins import routes as opt_in_routes
from api.optins.usecases import ManageOptIns
from api.profiles.usecases import FindProfiles
from api.templates.domain import Template
from api.templates.usecases import FindTemplate
from chassis.clock import utc_now
from chassis.group_commit import GroupCommit
from chassis.loop import Loop
from chassis.ttl_cache import TtlCache
from chassis.web import add_shortcut

FORGET_EVERY_SECONDS = 60
COMMIT_SPACING_MS = 8
"""Under load; a commit costs this process as much as a few messages, whatever it carries."""


def routes(parts: Parts) -> APIRouter:
    """The public routes that send messages, and those of opt-ins."""
    settings = parts.settings
    accepting = GroupCommit(
        parts.database,
        store_accepted,
        name="accept",
        size_max=settings.accept_batch_max,
        linger_ms=settings.accept_linger_ms,
        spacing_ms=COMMIT_SPACING_MS,
    )
    forget = ForgetKeys(database=parts.database, clock=utc_now)
    parts.stages += [accepting, Loop("forget-keys", forget.step, interval_seconds=FORGET_EVERY_SECONDS)]
    opt_ins = ManageOptIns(
        database=parts.database,
        keys=parts.keys,
        pepper=parts.pepper,
        clock=utc_now,
        enabled=settings.opt_in_enabled,
    )
    router = APIRouter()
    router.include_router(opt_in_routes.router(parts.authenticate, opt_ins))
    accept = _accept(parts, accepting)
    router.include_router(sending.router(parts.authenticate, accept))
    add_shortcut(
        parts.foundation.app,
        SendShortcut,
        prefixes=PREFIXES,
        authenticate=parts.authenticate,
        accept=accept,
        refuse=refusal_answer,
    )
    return router


def _accept(parts: Parts, accepting: GroupCommit[NewMessage, Receipt]) -> AcceptMessage:
    ttl_seconds = parts.settings.configuration_ttl_seconds
    templates: TtlCache[tuple[UUID, str], Template] = TtlCache(ttl_seconds=ttl_seconds)
    profiles: TtlCache[UUID, frozenset[str]] = TtlCache(ttl_seconds=ttl_seconds)
    prepare = PrepareMessage(
        templates=FindTemplate(database=parts.database, templates=templates),
        profiles=FindProfiles(database=parts.database, profiles=profiles),
        keys=parts.keys,
        pepper=parts.pepper,
        clock=utc_now,
        opt_in_enabled=parts.settings.opt_in_enabled,
        forecasts=_forecasts(parts),
    )
    return AcceptMessage(database=parts.database, prepare=prepare, commits=accepting)


def _forecasts(parts: Parts) -> ForecastDispatch:
    settings = parts.settings
    questions = BrokerQuestions(asker=parts.asker, timeout_seconds=settings.question_timeout_seconds)
    forecasts = ForecastDispatch(questions, fresh_seconds=settings.forecast_ttl_seconds, clock=utc_now)
    parts.stages.append(forecasts)
    return forecasts
