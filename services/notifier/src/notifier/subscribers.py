"""What the notifier hears: changes of status to tell customers of, and questions about their endpoints."""

from collections.abc import Awaitable, Callable

from chassis.answers import AnswerHandler
from chassis.deliveries import Heard
from chassis.group_commit import GroupCommit
from contracts.answers import answer_body
from contracts.facts import MessageStatusChanged
from contracts.questions import (
    ChangeEndpoint,
    DeleteEndpoint,
    FindEndpoint,
    ListDeliveryLog,
    ListEndpoints,
    RegisterEndpoint,
    RotateSecret,
)
from contracts.registry import UnreadableError, decode
from contracts.statement import Statement
from notifier.domain.endpoints import EVENT_OF
from notifier.usecases.list_endpoints import ListWebhooks
from notifier.usecases.manage_endpoint import ManageWebhook
from notifier.usecases.register_endpoint import RegisterWebhook

PREFETCH = 100


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


def answer_with(register: RegisterWebhook, listing: ListWebhooks, manage: ManageWebhook) -> AnswerHandler:
    """Answers every question about endpoints."""

    async def carry_out(asked: Statement) -> Statement:
        match asked:
            case RegisterEndpoint():
                return await register(asked)
            case ListEndpoints():
                return await listing(asked)
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

    async def answer(kind: str, body: bytes) -> bytes:
        return answer_body(await carry_out(decode(kind, body)))

    return answer
