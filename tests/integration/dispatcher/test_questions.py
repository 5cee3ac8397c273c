"""Questions to the dispatcher over a real broker, as the api asks them."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from chassis.answers import Answerer
from chassis.questions import Asker, QuestionFailedError
from chassis.testing.virtual_host import VirtualHost
from chassis.testing.waiting import eventually
from contracts.answers import read_answer
from contracts.dispatch_questions import (
    CANCEL_MAX,
    CancelMessages,
    DescribeLane,
    ExplainMessage,
    LaneDescribed,
    MessageExplained,
    MessagesCanceled,
)
from contracts.questions import ListEndpoints, Question
from contracts.statement import Statement
from contracts.topology import question_queue
from dispatcher.subscribers import answer_with
from dispatcher.usecases.cancel_messages import CancelJobs
from dispatcher.usecases.explain_message import DescribeNumber, ExplainJob

from .rig import Rig

QUEUE = question_queue("dispatcher")
Ask = Callable[[Question], Any]


@pytest.fixture
async def ask(rig: Rig, vhost: VirtualHost) -> AsyncIterator[Ask]:
    handler = answer_with(
        CancelJobs(database=rig.database),
        ExplainJob(database=rig.database),
        DescribeNumber(database=rig.database),
    )
    answerer, asker = Answerer(vhost.url, QUEUE, handler), Asker(vhost.url, service="test")
    await answerer.start()
    await eventually(lambda: answerer.problem() is None, "taking questions")

    async def ask_one(question: Question) -> Statement:
        return read_answer(await asker.ask(QUEUE, question.body(), type=question.TYPE, timeout_seconds=10))

    yield ask_one
    await asker.stop()
    await answerer.stop()


async def test_every_question_has_its_answer(rig: Rig, ask: Ask) -> None:
    await rig.open_lane()
    refs = [(await rig.accept(due_in=3_600))[0] for _ in range(3)]
    explained = await ask(ExplainMessage(ref=refs[0]))
    assert isinstance(explained, MessageExplained)
    assert explained.job is not None
    described = await ask(DescribeLane(instance="loja"))
    assert isinstance(described, LaneDescribed)
    assert described.lane is not None
    canceled = await ask(CancelMessages(refs=tuple(refs)))
    assert isinstance(canceled, MessagesCanceled)
    assert {message.message_id for message in canceled.canceled} == {ref.message_id for ref in refs}


async def test_the_largest_question_is_answered_within_its_time(rig: Rig, ask: Ask) -> None:
    refs = tuple(rig.message(said=f"m{number}").ref for number in range(CANCEL_MAX))
    canceled = await ask(CancelMessages(refs=refs))
    assert len(canceled.canceled) == CANCEL_MAX


async def test_something_else_is_answered_by_an_error(vhost: VirtualHost, ask: Ask) -> None:
    asker = Asker(vhost.url, service="test")
    with pytest.raises(QuestionFailedError):
        await asker.ask(QUEUE, b"{}", type=CancelMessages.TYPE, timeout_seconds=10)
    with pytest.raises(QuestionFailedError):
        await asker.ask(QUEUE, b'{"refs": []}', type=CancelMessages.TYPE, timeout_seconds=10)
    body = b'{"tenant_id": "018f0000-0000-7000-8000-000000000000"}'
    with pytest.raises(QuestionFailedError):
        await asker.ask(QUEUE, body, type=ListEndpoints.TYPE, timeout_seconds=10)
    await asker.stop()
