"""Wires what operators do, behind their own keys, and what numbers say of themselves."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header

from api.access import routes as key_routes
from api.access.usecases import AuthenticateOperator, IssueKey
from api.accounts import routes as account_routes
from api.accounts.usecases import OpenAccount
from api.app.parts import Parts
from api.numbers import routes as number_routes
from api.numbers import subscribers as number_subscribers
from api.numbers.adapters import BrokerLanes, EvolutionWebhooks
from api.numbers.usecases import FindNumber, FollowConnection, RegisterNumber
from api.templates import routes as template_routes
from api.templates.usecases import CreateTemplate
from chassis.clock import utc_now
from gateways.evolution.instances import EvolutionInstances


def routes(parts: Parts) -> APIRouter:
    """Everything below /v1/admin."""
    operators = AuthenticateOperator(operator_key=parts.settings.operator_key.get_secret_value())

    def operator_only(x_operator_key: Annotated[str | None, Header(max_length=500)] = None) -> None:
        operators.admit(x_operator_key)

    router = APIRouter(prefix="/admin", dependencies=[Depends(operator_only)])
    router.include_router(account_routes.router(OpenAccount(database=parts.database)))
    router.include_router(key_routes.router(IssueKey(database=parts.database)))
    router.include_router(template_routes.router(CreateTemplate(database=parts.database)))
    router.include_router(number_routes.router(_register_number(parts), FindNumber(database=parts.database)))
    return router


def listen(parts: Parts) -> None:
    """Follow the connection of numbers."""
    number_subscribers.subscribe(parts.broker, FollowConnection(database=parts.database))


def _register_number(parts: Parts) -> RegisterNumber:
    return RegisterNumber(
        database=parts.database,
        keys=parts.keys,
        lanes=BrokerLanes(broker_url=parts.settings.broker_url.get_secret_value()),
        webhooks=EvolutionWebhooks(instances=EvolutionInstances(), ingest_url=parts.settings.ingest_url),
        clock=utc_now,
    )
