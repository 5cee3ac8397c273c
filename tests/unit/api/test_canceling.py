"""What each id of a cancel request comes to, and that a cancellation is one report however often it is heard of."""

from dataclasses import replace

import pytest

from api.access.domain import KeyScope
from api.messages.domain.cancellation import CancelOutcome, CancelRefusal, outcome_of, undecided
from api.messages.domain.details import KnownMessage
from api.messages.domain.progress import canceled, report_of
from api.messages.domain.scope import scope_of
from api.refusals import Refusal, RefusedError
from contracts.facts import MessageDispatchCanceled
from contracts.ids import uuid7
from contracts.status import Status
from contracts.values import Environment

from .people import CALLER, NOW, REF, TESTER


def known(status: Status) -> KnownMessage:
    return KnownMessage(
        ref=REF.model_copy(update={"message_id": uuid7()}),
        status=status,
    )


FOUND = {status.value: known(status) for status in Status}
NOT_CANCELABLE = ("DISPATCHED", "SENT", "DELIVERED", "READ", "FAILED")


def test_only_waiting_messages_are_asked_about() -> None:
    assert undecided(FOUND) == {FOUND["QUEUED"].ref.message_id: FOUND["QUEUED"]}


def test_what_may_have_been_sent_is_not_even_asked_about() -> None:
    suspect = {"x": replace(FOUND["QUEUED"], is_suspect=True)}
    assert undecided(suspect) == {}
    decided = {FOUND["QUEUED"].ref.message_id: True}
    assert outcome_of(["x"], suspect, decided).failed == (("x", CancelRefusal.NOT_CANCELABLE),)


def test_every_id_is_reported_once_in_the_order_given() -> None:
    decided = {FOUND["QUEUED"].ref.message_id: True}
    outcome = outcome_of(["READ", "nope", "QUEUED", "CANCELED", "QUEUED", "nope"], FOUND, decided)
    assert outcome == CancelOutcome(
        canceled=("QUEUED", "CANCELED"),
        failed=(("READ", CancelRefusal.NOT_CANCELABLE), ("nope", CancelRefusal.NOT_FOUND)),
    )


@pytest.mark.parametrize("status", NOT_CANCELABLE)
def test_a_message_that_moved_on_is_not_cancelable(status: str) -> None:
    for decided in ({}, None, {FOUND[status].ref.message_id: True}):
        assert outcome_of([status], FOUND, decided).failed == ((status, CancelRefusal.NOT_CANCELABLE),)


def test_the_dispatchers_word_is_final() -> None:
    assert outcome_of(["QUEUED"], FOUND, {}).failed == (("QUEUED", CancelRefusal.NOT_CANCELABLE),)
    silent = outcome_of(["QUEUED", "CANCELED", "nope"], FOUND, None)
    assert silent.failed == (("QUEUED", CancelRefusal.OWNER_UNAVAILABLE), ("nope", CancelRefusal.NOT_FOUND))
    assert silent.canceled == ("CANCELED",)


def test_answer_and_fact_make_the_same_report() -> None:
    ref = FOUND["QUEUED"].ref
    fact = MessageDispatchCanceled(ref=ref, canceled_at=NOW)
    heard = report_of(fact, statement_id=uuid7(), said_at=NOW)
    assert heard == canceled(ref, at=NOW)
    assert heard.status is Status.CANCELED
    later_round = ref.model_copy(update={"round": 2})
    assert canceled(later_round, at=NOW).statement_id != heard.statement_id


def test_a_key_reaches_its_project_and_a_test_key_only_test_messages() -> None:
    scope = scope_of(CALLER, named_number_id=uuid7())
    assert (scope.project_id, scope.number_id, scope.environment) == (CALLER.project_id, None, None)
    assert scope_of(TESTER).environment is Environment.TEST
    bound = replace(CALLER, scope=KeyScope.NUMBER)
    assert bound.number is not None
    assert scope_of(bound).number_id == bound.number.number_id


def test_a_tenant_key_reaches_the_number_it_names_and_nothing_without() -> None:
    tenant = replace(CALLER, scope=KeyScope.TENANT, number=None)
    with pytest.raises(RefusedError) as refused:
        scope_of(tenant)
    assert refused.value.refusal is Refusal.TENANT_SCOPE_NOT_ALLOWED
    number_id = uuid7()
    scope = scope_of(tenant, named_number_id=number_id)
    assert (scope.tenant_id, scope.project_id, scope.number_id) == (tenant.tenant_id, None, number_id)
