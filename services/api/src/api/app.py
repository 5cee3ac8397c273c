"""Puts the api together: the only place that reads settings and picks adapters."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response

from api.access import routes as key_routes
from api.access.domain import Caller
from api.access.usecases import Authenticate, AuthenticateOperator, IssueKey
from api.accounts import routes as account_routes
from api.accounts.usecases import OpenAccount
from api.messages import routes as message_routes
from api.messages import subscribers as message_subscribers
from api.messages.domain.acceptance import NewMessage
from api.messages.usecases.accept_message import AcceptMessage, store_accepted
from api.messages.usecases.follow_progress import FollowProgress, fold
from api.messages.usecases.read_message import ReadMessage
from api.numbers import routes as number_routes
from api.numbers import subscribers as number_subscribers
from api.numbers.adapters import BrokerLanes, EvolutionWebhooks
from api.numbers.usecases import FindNumber, FollowConnection, RegisterNumber
from api.refusals import RefusedError
from api.settings import Settings
from api.tables import OUTBOX
from api.templates import routes as template_routes
from api.templates.domain import Template
from api.templates.usecases import CreateTemplate, FindTemplate
from api.webhooks import routes as webhook_routes
from api.webhooks.adapters import NotifierQuestions
from api.webhooks.usecases import ManageEndpoints
from chassis.clock import utc_now
from chassis.foundation import Foundation
from chassis.group_commit import GroupCommit
from chassis.problems import Problem, render
from chassis.questions import Asker
from chassis.topology import Topology
from chassis.ttl_cache import TtlCache
from contracts.registry import API, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES
from gateways.evolution.instances import EvolutionInstances

TOPOLOGY = Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS)


async def serve() -> int:
    """Run until a signal; the exit code."""
    settings = Settings.load()
    foundation = Foundation(
        settings, service=API, outbox=OUTBOX, topology=TOPOLOGY, decode=decode, title="Pilot Status API"
    )
    database = foundation.database
    accepting = GroupCommit(
        database,
        store_accepted,
        name="accept",
        size_max=settings.accept_batch_max,
        linger_ms=settings.accept_linger_ms,
    )
    following = GroupCommit(database, fold, name="follow", commits_max=1)
    asker = Asker(settings.broker_url.get_secret_value(), service=API)

    number_subscribers.subscribe(foundation.broker, FollowConnection(database=database))
    message_subscribers.subscribe(foundation.broker, FollowProgress(commits=following))

    callers: TtlCache[str, Caller] = TtlCache(ttl_seconds=settings.configuration_ttl_seconds)
    authenticate = Authenticate(database=database, callers=callers)
    public = [
        _message_routes(settings, foundation, authenticate, accepting),
        webhook_routes.router(
            authenticate,
            ManageEndpoints(
                questions=NotifierQuestions(asker=asker, timeout_seconds=settings.question_timeout_seconds),
                keys=settings.key_ring(),
            ),
        ),
    ]
    _mount(foundation.app, public=public, operator=_operator_routes(settings, foundation))
    return await foundation.run(accepting, following, asker)


def _message_routes(
    settings: Settings,
    foundation: Foundation,
    authenticate: Authenticate,
    accepting: GroupCommit[NewMessage, None],
) -> APIRouter:
    templates: TtlCache[tuple[UUID, str], Template] = TtlCache(ttl_seconds=settings.configuration_ttl_seconds)
    accept = AcceptMessage(
        templates=FindTemplate(database=foundation.database, templates=templates),
        commits=accepting,
        keys=settings.key_ring(),
        pepper=settings.pepper(),
        clock=utc_now,
    )
    return message_routes.router(
        authenticate, accept, ReadMessage(database=foundation.database, keys=settings.key_ring())
    )


def _operator_routes(settings: Settings, foundation: Foundation) -> APIRouter:
    database = foundation.database
    operators = AuthenticateOperator(operator_key=settings.operator_key.get_secret_value())

    def operator_only(x_operator_key: Annotated[str | None, Header(max_length=500)] = None) -> None:
        operators.admit(x_operator_key)

    register = RegisterNumber(
        database=database,
        keys=settings.key_ring(),
        lanes=BrokerLanes(broker_url=settings.broker_url.get_secret_value()),
        webhooks=EvolutionWebhooks(instances=EvolutionInstances(), ingest_url=settings.ingest_url),
        clock=utc_now,
    )
    routes = APIRouter(prefix="/admin", dependencies=[Depends(operator_only)])
    routes.include_router(account_routes.router(OpenAccount(database=database)))
    routes.include_router(key_routes.router(IssueKey(database=database)))
    routes.include_router(template_routes.router(CreateTemplate(database=database)))
    routes.include_router(number_routes.router(register, FindNumber(database=database)))
    return routes


def _mount(app: FastAPI, *, public: list[APIRouter], operator: APIRouter) -> None:
    for prefix, documented in (("/v1", True), ("/api/v1", False)):
        for router in public:
            app.include_router(router, prefix=prefix, include_in_schema=documented)
    app.include_router(operator, prefix="/v1")

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return render(_problem_of(error), request.scope)

    app.add_exception_handler(RefusedError, refuse)


def _problem_of(error: RefusedError) -> Problem:
    status = error.refusal.value[0]
    details = {"details": [{"field": error.field, "message": error.sentence}]} if error.field else {}
    headers = {"retry-after": "1"} if status == 503 else {}
    return Problem(status, error.refusal.name, error.sentence, extras=details, headers=headers)
