"""Failures of other services and of the gateway, as the refusals that clients are told."""

from dataclasses import replace
from typing import Any

import pytest

from api.access.domain import KeyScope
from api.own_numbers.adapters import EvolutionNumbers
from api.refusals import Refusal, RefusedError
from api.webhooks.domain import Asking
from api.webhooks.usecases.manage_endpoints import ManageEndpoints
from contracts.dispatch_questions import MessagesCanceled
from contracts.questions import Endpoints, Rejected
from contracts.statement import Statement
from contracts.values import GatewayAccess
from gateways.evolution.instances import GatewayAccessDeniedError, InstanceCallError, InstanceTimeoutError

from .people import CALLER

ACCESS = GatewayAccess(base_url="https://gateway.example", api_key="k")
BOUND = replace(CALLER, scope=KeyScope.NUMBER)


class Failing:
    """Stands for the gateway's client: whatever is asked fails in one way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def state(self, target: object) -> None:
        raise self._error


class Answering:
    """Stands for the notifier: whatever is asked has one answer."""

    def __init__(self, answer: Statement) -> None:
        self._answer = answer

    async def ask(self, question: object) -> Statement:
        return self._answer


def numbers(error: Exception) -> EvolutionNumbers:
    client: Any = Failing(error)
    return EvolutionNumbers(quick=client, patient=client, home=None, ingest_url=None)


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (InstanceTimeoutError("late"), Refusal.UPSTREAM_TIMEOUT),
        (GatewayAccessDeniedError("no"), Refusal.PROVIDER_NOT_CONFIGURED),
        (InstanceCallError("odd"), Refusal.UPSTREAM_ERROR),
    ],
)
async def test_each_failure_of_the_gateway_has_its_refusal(error: Exception, refusal: Refusal) -> None:
    with pytest.raises(RefusedError) as refused:
        await numbers(error).state("loja", ACCESS)
    assert refused.value.refusal is refusal


def test_without_a_gateway_of_the_platform_no_number_is_created() -> None:
    with pytest.raises(RefusedError) as refused:
        numbers(InstanceCallError("odd")).new_access("token")
    assert refused.value.refusal is Refusal.PROVIDER_NOT_CONFIGURED


async def test_the_notifiers_no_is_told_and_an_odd_answer_is_none() -> None:
    async def asked(answer: Statement) -> object:
        unused: Any = None
        endpoints = ManageEndpoints(questions=Answering(answer), keys=unused, database=unused)
        return await endpoints.list(Asking(caller=BOUND, number_id=None))

    assert await asked(Endpoints(endpoints=())) == ()
    for answer, refusal in (
        (Rejected(code="UNKNOWN_EVENT", message="m", field="events"), Refusal.UNKNOWN_EVENT),
        (Rejected(code="SOMETHING_NEW", message="m"), Refusal.ENDPOINT_REJECTED),
        (MessagesCanceled(canceled=(), kept=()), Refusal.OWNER_UNAVAILABLE),
    ):
        with pytest.raises(RefusedError) as refused:
            await asked(answer)
        assert refused.value.refusal is refusal
