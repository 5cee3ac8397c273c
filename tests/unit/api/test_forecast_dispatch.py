"""The memory of lanes: it never makes a send wait, and never asks more than it may."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from api.messages.usecases.forecast_dispatch import QUESTIONS_MAX, QUESTIONS_PER_MINUTE, ForecastDispatch
from api.refusals import Refusal, RefusedError
from contracts.dispatch_questions import DescribeLane, LaneDescribed
from contracts.questions import Question
from contracts.values import Category

from .test_forecast import MESSAGE, NOW, SECOND, described

LANE = described({Category.UTILITY: 2})


class Dispatcher:
    """Keeps questions until it is told what to answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._waiting: list[asyncio.Future[LaneDescribed]] = []

    async def ask(self, question: Question) -> LaneDescribed:
        assert isinstance(question, DescribeLane)
        self.asked.append(question.instance)
        answer: asyncio.Future[LaneDescribed] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        return await answer

    async def answer(self, answer: LaneDescribed | Exception) -> None:
        """To everyone who waits; returns when they have heard it."""
        await settled()
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if isinstance(answer, Exception):
                one.set_exception(answer)
            else:
                one.set_result(answer)
        await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Setting:
    """Forecasts that are fresh for 5 s, with time held still."""

    def __init__(self, **options: Any) -> None:
        self.now = NOW
        self.dispatcher = Dispatcher()
        self.forecasts = ForecastDispatch(self.dispatcher, fresh_seconds=5, clock=lambda: self.now, **options)

    def admit(self, instance: str = "loja", **message: Any) -> datetime | None:
        return self.forecasts.admit(instance, replace(MESSAGE, **message), now=self.now)

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def setting() -> Setting:
    return Setting()


async def test_the_first_send_asks_and_the_next_ones_know(setting: Setting) -> None:
    assert [setting.admit() for _ in range(3)] == [None] * 3
    await setting.dispatcher.answer(LANE)
    assert setting.dispatcher.asked == ["loja"], "one question at a time"
    assert [setting.admit() for _ in range(2)] == [NOW + 16 * SECOND, NOW + 24 * SECOND]
    assert setting.admit("other") is None


async def test_it_asks_again_when_it_is_no_longer_fresh_and_knows_meanwhile(setting: Setting) -> None:
    setting.admit()
    await setting.dispatcher.answer(LANE)
    setting.pass_(4.9)
    assert setting.admit() is not None
    await settled()
    assert len(setting.dispatcher.asked) == 1
    setting.pass_(0.1)
    assert setting.admit() == NOW + 24 * SECOND
    await setting.dispatcher.answer(described())
    assert len(setting.dispatcher.asked) == 2
    assert setting.admit() == setting.now


async def test_a_silent_dispatcher_is_left_alone_for_longer_and_longer(setting: Setting) -> None:
    silence = RefusedError(Refusal.OWNER_UNAVAILABLE)
    for pause in (1, 2, 4, 5, 5):
        asked = len(setting.dispatcher.asked)
        assert setting.admit() is None
        await setting.dispatcher.answer(silence)
        assert len(setting.dispatcher.asked) == asked + 1
        setting.pass_(pause - 0.1)
        setting.admit("another lane")
        await settled()
        assert len(setting.dispatcher.asked) == asked + 1
        setting.pass_(5)
    setting.admit()
    await setting.dispatcher.answer(LANE)
    assert setting.admit() is not None


async def test_an_answer_of_another_kind_or_an_error_is_no_forecast(setting: Setting) -> None:
    setting.admit()
    await setting.dispatcher.answer(DescribeLane(instance="loja"))  # type: ignore[arg-type]
    assert setting.admit() is None
    setting.pass_(5)
    setting.admit()
    await setting.dispatcher.answer(ValueError("unheard of"))
    assert setting.admit() is None
    setting.pass_(5)
    setting.admit()
    await setting.dispatcher.answer(LANE)
    assert setting.admit() is not None


async def test_questions_and_lanes_are_bounded() -> None:
    setting = Setting(lanes_max=QUESTIONS_MAX)
    for place in range(20):
        setting.admit(f"lane-{place}")
    await setting.dispatcher.answer(LANE)
    assert setting.dispatcher.asked == [f"lane-{place}" for place in range(QUESTIONS_MAX)]
    assert setting.admit("lane-0") is None, "forgotten for later ones"


async def test_there_is_a_rate_of_questions_for_all_lanes_together() -> None:
    setting = Setting()
    for place in range(2 * QUESTIONS_PER_MINUTE):
        setting.admit(f"lane-{place}")
        await setting.dispatcher.answer(LANE)
    assert QUESTIONS_PER_MINUTE <= len(setting.dispatcher.asked) < 2 * QUESTIONS_PER_MINUTE


async def test_what_is_asked_when_it_stops_is_let_go() -> None:
    setting = Setting()
    setting.admit()
    await settled()
    await setting.forecasts.stop()
    setting.admit("other")
    await settled()
    assert setting.dispatcher.asked == ["loja"]
