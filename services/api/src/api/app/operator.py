"""Wires what operators do, behind their own keys and the one door that logs their changes."""

from fastapi import APIRouter

from api.access.usecases import IssueKey
from api.accounts.usecases import OpenAccount
from api.administration.routes import accounts, keys, limits, numbers, people
from api.administration.usecases.configure_numbers import ConfigureNumber, ReadNumbers
from api.administration.usecases.manage_accounts import ManageAccounts, ReadAccounts
from api.administration.usecases.manage_keys import ReadKeys, RevokeKey
from api.administration.usecases.manage_limits import ManageLimits, ReadLimits
from api.administration.usecases.manage_opt_ins import ManageOptIns, ReadOptIns
from api.administration.usecases.manage_profiles import ManageProfiles, ReadProfiles
from api.app import erasures, lanes, operated_messages, repair, webhooks
from api.app import numbers as own_numbers
from api.app.audited import AUDITED
from api.app.parts import Parts
from api.messages.usecases.follow_progress import FollowProgress
from api.numbers import subscribers as number_subscribers
from api.numbers.adapters import BrokerLanes, EvolutionWebhooks
from api.numbers.usecases import FindNumber, FollowConnection, RegisterNumber
from api.operators.routes import audit, operators
from api.operators.routes.guard import Guard
from api.operators.usecases.forget_changes import ForgetChanges
from api.operators.usecases.manage_operators import ManageOperators, ReadOperators
from api.operators.usecases.read_audit import ReadAudit
from api.operators.usecases.record_change import Door
from api.templates.routes import judging
from api.templates.usecases.create_template import CreateTemplate
from api.templates.usecases.judge_templates import JudgeTemplate, ListWaitingTemplates
from chassis.clock import utc_now
from chassis.joining import JoinedDatabase
from chassis.loop import Loop
from gateways.evolution.instances import EvolutionInstances

FORGET_EVERY_SECONDS = 3_600


def routes(parts: Parts, follow: FollowProgress) -> APIRouter:
    """Everything below /v1/admin. What changes something is built with the door's database, what reads with ours."""
    guard = _guard(parts)
    forget = ForgetChanges(database=parts.database, clock=utc_now, kept_days=parts.settings.audit_retention_days)
    parts.stages.append(Loop("forget-changes", forget.step, interval_seconds=FORGET_EVERY_SECONDS))
    changing, database = guard.door.database, parts.database
    return guard.router(
        *_account_routers(guard, parts),
        *_people_routers(guard, parts),
        keys.router(guard, IssueKey(database=changing), RevokeKey(database=changing), ReadKeys(database=database)),
        *_number_routers(guard, parts),
        lanes.routes(parts),
        webhooks.operators_routes(parts, guard),
        own_numbers.probing(parts),
        *operated_messages.routers(guard, parts, follow),
        *repair.routers(guard, parts),
        erasures.routes(guard, parts),
        judging.router(
            guard,
            CreateTemplate(database=changing),
            ListWaitingTemplates(database=database),
        ),
        judging.decision_router(guard, JudgeTemplate(database=changing)),
        operators.router(guard, ManageOperators(database=changing), ReadOperators(database=database)),
        audit.router(ReadAudit(database=database)),
    )


def listen(parts: Parts) -> None:
    """Follow the connection of numbers."""
    number_subscribers.subscribe(parts.broker, FollowConnection(database=parts.database))


def _guard(parts: Parts) -> Guard:
    door = Door(database=JoinedDatabase(parts.database), audited=AUDITED)
    return Guard(operators=parts.authenticate_operator, door=door)


def _account_routers(guard: Guard, parts: Parts) -> list[APIRouter]:
    changing, database = guard.door.database, parts.database
    manage_accounts, read_accounts = ManageAccounts(database=changing), ReadAccounts(database=database)
    manage_limits, read_limits = ManageLimits(database=changing), ReadLimits(database=database)
    return [
        accounts.tenant_router(guard, manage_accounts, read_accounts),
        accounts.project_router(guard, OpenAccount(database=changing), manage_accounts, read_accounts),
        limits.plan_router(guard, manage_limits, read_limits),
        limits.package_router(guard, manage_limits, read_limits),
    ]


def _people_routers(guard: Guard, parts: Parts) -> list[APIRouter]:
    changing, database = guard.door.database, parts.database
    manage_profiles = ManageProfiles(database=changing, keys=parts.keys, pepper=parts.pepper)
    manage_opt_ins = ManageOptIns(database=changing, keys=parts.keys, pepper=parts.pepper, clock=utc_now)
    return [
        people.profile_router(guard, manage_profiles, ReadProfiles(database=database, keys=parts.keys)),
        people.opt_in_router(guard, manage_opt_ins, ReadOptIns(database=database, keys=parts.keys)),
    ]


def _number_routers(guard: Guard, parts: Parts) -> list[APIRouter]:
    changing, database = guard.door.database, parts.database
    register = RegisterNumber(
        database=changing,
        keys=parts.keys,
        lanes=BrokerLanes(broker_url=parts.settings.broker_url.get_secret_value()),
        webhooks=EvolutionWebhooks(instances=EvolutionInstances(), ingest_url=parts.settings.ingest_url),
        clock=utc_now,
    )
    return [
        numbers.router(guard, register, ReadNumbers(database=database), FindNumber(database=database)),
        numbers.configuring_router(guard, ConfigureNumber(database=changing, keys=parts.keys, clock=utc_now)),
    ]
