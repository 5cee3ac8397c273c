"""What the notifier hears: changes of status and turns of numbers' lives to tell of, questions about endpoints."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import assert_never

from chassis.answers import AnswerHandler
from chassis.deliveries import Heard
from chassis.group_commit import GroupCommit
from contracts.answers import answer_body
from contracts.delivery_questions import ListDeliveries, LocateEndpoint, ReplayDeliveries, ReplayDelivery
from contracts.facts import (
    ContentForgotten,
    MessageStatusChanged,
    NumberConfigured,
    NumberConnectionChanged,
    NumberCreated,
    NumberRemoved,
    NumberRestored,
)
from contracts.questions import (
    ChangeEndpoint,
    DeleteEndpoint,
    FindEndpoint,
    ListDeliveryLog,
    ListEndpoints,
    RegisterEndpoint,
    RotateSecret,
    TryEndpoint,
)
from contracts.registry import UnreadableError, decode
from contracts.statement import Statement
from notifier.domain.endpoints import EVENT_OF
from notifier.usecases.forget_contents import ForgetContents
from notifier.usecases.list_endpoints import ListWebhooks
from notifier.usecases.manage_endpoint import ManageWebhook
from notifier.usecases.register_endpoint import RegisterWebhook
from notifier.usecases.replay_deliveries import ReplayWebhooks
from notifier.usecases.tell_of_numbers import TellOfNumbers
from notifier.usecases.try_endpoint import TryWebhook

PREFETCH = 100
SETTLING_SECONDS = 1.0
NUMBERS_PREFETCH = 1
"""One after the other: what happens to a number is told in the order in which it is heard."""


def on_status_changed(
    plans: GroupCommit[MessageStatusChanged, None], *, planned: Callable[[], None]
) -> Callable[[Heard], Awaitable[None]]:
    """Statuses nobody is told of end here; `planned` is called after each commit."""

    async def hear(heard: Heard) -> None:
        fact = heard.statement
        if not isinstance(fact, MessageStatusChanged):
            raise UnreadableError("not a change of status")
        if fact.status in EVENT_OF:
            await plans.submit(fact)
            planned()

    return hear


def on_number(tell: TellOfNumbers, *, told: Callable[[], None]) -> Callable[[Heard], Awaitable[None]]:
    """`told` is called after each commit."""

    async def hear(heard: Heard) -> None:
        match heard.statement:
            case NumberConfigured() as fact:
                await tell.learn(fact)
            case NumberCreated() | NumberRemoved() | NumberRestored() as fact:
                await tell.turn(fact)
            case NumberConnectionChanged() as fact:
                await tell.observe(fact)
            case _:
                raise UnreadableError("not about a number")
        told()

    return hear


def on_message(
    status_changed: Callable[[Heard], Awaitable[None]], forgotten: Callable[[Heard], Awaitable[None]]
) -> Callable[[Heard], Awaitable[None]]:
    """One queue for both, so that what is to be forgotten is heard after it was told."""

    async def hear(heard: Heard) -> None:
        await (forgotten if isinstance(heard.statement, ContentForgotten) else status_changed)(heard)

    return hear


def on_forgotten(
    forget: ForgetContents, *, settling_seconds: float = SETTLING_SECONDS
) -> Callable[[Heard], Awaitable[None]]:
    """What messages said is kept no longer; what was heard just before, by whichever replica, is planned first."""

    async def hear(heard: Heard) -> None:
        if not isinstance(heard.statement, ContentForgotten):
            raise UnreadableError("not about forgotten contents")
        await asyncio.sleep(settling_seconds)
        await forget(heard.statement)

    return hear


def answer_with(
    register: RegisterWebhook,
    listing: ListWebhooks,
    manage: ManageWebhook,
    attempt: TryWebhook,
    replay: ReplayWebhooks,
) -> AnswerHandler:
    """Answers every question about endpoints."""

    async def carry_out(asked: Statement) -> Statement:
        match asked:
            case RegisterEndpoint():
                return await register(asked)
            case ListEndpoints():
                return await listing(asked)
            case TryEndpoint():
                return await attempt(asked)
            case LocateEndpoint() | ListDeliveries() | ReplayDelivery() | ReplayDeliveries():
                return await _replay(replay, asked)
            case _:
                return await _manage(manage, asked)

    async def answer(kind: str, body: bytes) -> bytes:
        return answer_body(await carry_out(decode(kind, body)))

    return answer


async def _replay(
    replay: ReplayWebhooks, asked: LocateEndpoint | ListDeliveries | ReplayDelivery | ReplayDeliveries
) -> Statement:
    match asked:
        case LocateEndpoint():
            return await replay.locate(asked)
        case ListDeliveries():
            return await replay.list(asked)
        case ReplayDelivery():
            return await replay.one(asked)
        case ReplayDeliveries():
            return await replay.range(asked)
        case _:
            assert_never(asked)


async def _manage(manage: ManageWebhook, asked: Statement) -> Statement:
    match asked:
        case FindEndpoint():
            return await manage.find(asked)
        case ChangeEndpoint():
            return await manage.change(asked)
        case DeleteEndpoint():
            return await manage.delete(asked)
        case RotateSecret():
            return await manage.rotate(asked)
        case ListDeliveryLog():
            return await manage.log(asked)
        case _:
            raise UnreadableError("not a question for the notifier")
