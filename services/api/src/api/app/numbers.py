"""Wires what a client does with its numbers: the gateway it is created at, and the end of what was deleted."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.messages.usecases.forget_content import ForgetContent
from api.numbers.adapters import BrokerLanes
from api.numbers.usecases import FindNumber
from api.own_numbers.adapters import EvolutionNumbers
from api.own_numbers.routes import changing, showing
from api.own_numbers.routes import probing as probing_routes
from api.own_numbers.usecases.change_number import ChangeNumber
from api.own_numbers.usecases.connect_number import ConnectNumber
from api.own_numbers.usecases.create_number import CreateNumber
from api.own_numbers.usecases.remove_number import RemoveNumber
from api.own_numbers.usecases.show_numbers import ShowNumbers
from api.settings import Settings
from chassis.clock import utc_now
from chassis.loop import Loop
from contracts.values import GatewayAccess
from gateways.evolution.exchange import Timeouts
from gateways.evolution.instances import EvolutionInstances

PURGE_INTERVAL_SECONDS = 600.0
FORGET_INTERVAL_SECONDS = 3_600.0
QUICK = Timeouts(connect_seconds=1.0, write_seconds=1.0, query_seconds=3.0)
PATIENT = Timeouts(query_seconds=15.0)


def routes(parts: Parts) -> APIRouter:
    """The public routes of numbers."""
    database, keys, gateway = parts.database, parts.keys, _gateway(parts.settings)
    lanes = BrokerLanes(broker_url=parts.settings.broker_url.get_secret_value())
    show = ShowNumbers(database=database, keys=keys, gateway=gateway, clock=utc_now)
    connect = ConnectNumber(database=database, keys=keys, numbers=show, gateway=gateway, lanes=lanes, clock=utc_now)
    create = CreateNumber(database=database, keys=keys, gateway=gateway, lanes=lanes, clock=utc_now)
    forget = ForgetContent(database=database, clock=utc_now)
    remove = RemoveNumber(
        database=database,
        keys=keys,
        gateway=gateway,
        forget_history=forget.of_number,
        clock=utc_now,
    )
    parts.stages.append(Loop("forget-content", forget.expired, interval_seconds=FORGET_INTERVAL_SECONDS))
    parts.stages.append(Loop("purge-expired-numbers", remove.purge_expired, interval_seconds=PURGE_INTERVAL_SECONDS))
    router = APIRouter()
    router.include_router(showing.router(parts.authenticate, show, connect))
    router.include_router(changing.router(parts.authenticate, create, ChangeNumber(database=database), remove, show))
    return router


def probing(parts: Parts) -> APIRouter:
    """The operators' route that asks the gateway of a number."""
    gateway = _gateway(parts.settings)
    show = ShowNumbers(database=parts.database, keys=parts.keys, gateway=gateway, clock=utc_now)
    return probing_routes.router(FindNumber(database=parts.database), show)


def _gateway(settings: Settings) -> EvolutionNumbers:
    home = None
    if settings.gateway_url is not None and settings.gateway_api_key is not None:
        home = GatewayAccess(base_url=settings.gateway_url, api_key=settings.gateway_api_key.get_secret_value())
    return EvolutionNumbers(
        quick=EvolutionInstances(timeouts=QUICK),
        patient=EvolutionInstances(timeouts=PATIENT),
        home=home,
        ingest_url=settings.ingest_url,
    )
