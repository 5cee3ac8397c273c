"""Operators: roles, keys, and a router that lets no unguarded change through."""

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends

from api.operators.domain import (
    Action,
    KnownOperator,
    Operator,
    OperatorKeyParts,
    Role,
    admit,
    authorise,
    parse_operator_key,
)
from api.operators.routes.guard import Guard
from api.operators.usecases.record_change import Change, Door
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from chassis.joining import JoinedDatabase

PARTS = OperatorKeyParts(public_id="A" * 12, secret="s" * 43)
ANA = Operator(operator_id=None, name="Ana", role=Role.OPERATOR)


def guard() -> Guard:
    database = JoinedDatabase(Database("postgresql://nobody@127.0.0.1:1/none"))
    return Guard(operators=None, door=Door(database=database, audited={}))  # type: ignore[arg-type]


@pytest.mark.parametrize(("role", "allowed"), [("viewer", 0), ("operator", 1), ("admin", 2)])
def test_a_role_covers_itself_and_those_before_it(role: str, allowed: int) -> None:
    order = [Role.VIEWER, Role.OPERATOR, Role.ADMIN]
    assert [Role(role).covers(needed) for needed in order] == [index <= allowed for index in range(3)]


def test_a_role_that_is_not_enough_is_refused() -> None:
    authorise(ANA, Role.OPERATOR)
    with pytest.raises(RefusedError) as refused:
        authorise(ANA, Role.ADMIN)
    assert refused.value.refusal is Refusal.OPERATOR_ROLE_NOT_ALLOWED


def test_no_change_is_open_to_viewers() -> None:
    assert {action.role for action in Action} == {Role.OPERATOR, Role.ADMIN}
    assert len({action.label for action in Action}) == len(Action)


def test_what_only_an_administrator_changes() -> None:
    kinds = ("tenant", "project", "plan", "package", "operator")
    expected = {action.label for action in Action if action.target.value in kinds}
    assert {action.label for action in Action if action.role is Role.ADMIN} == {
        *expected,
        "number.register",
        "number.make_default",
    }
    assert len(expected) == 12


def test_a_key_is_read_back_and_hides_its_secret() -> None:
    assert parse_operator_key(PARTS.raw()) == PARTS
    assert PARTS.secret not in repr(PARTS)
    for wrong in (
        "",
        "op_",
        PARTS.raw() + "x",
        PARTS.raw()[:-1],
        PARTS.raw().replace("op_", "ps_"),
        PARTS.raw() + "\n",
    ):
        assert parse_operator_key(wrong) is None


def test_only_the_right_secret_is_admitted() -> None:
    known = KnownOperator(operator=ANA, secret_hash=PARTS.secret_hash)
    assert admit(PARTS, known) is ANA
    other = OperatorKeyParts(public_id=PARTS.public_id, secret="t" * 43)
    for parts, found in ((other, known), (PARTS, None)):
        with pytest.raises(RefusedError) as refused:
            admit(parts, found)
        assert refused.value.refusal is Refusal.OPERATOR_KEY_INVALID


def test_a_route_that_changes_something_without_asking_keeps_the_api_from_starting() -> None:
    guarding, routes = guard(), APIRouter()

    @routes.get("/things")
    def read() -> None: ...

    assert guarding.router(routes) is not None

    @routes.post("/things")
    def forgotten() -> None: ...

    with pytest.raises(RuntimeError, match="POST /things"):
        guarding.router(routes)


def test_a_route_that_asks_for_two_rights_keeps_the_api_from_starting() -> None:
    guarding, routes = guard(), APIRouter()

    @routes.put("/things")
    def twice(
        first: Annotated[Change, Depends(guarding.may(Action.PLAN_CREATE))],
        second: Annotated[Change, Depends(guarding.may(Action.PLAN_DELETE))],
    ) -> None: ...

    with pytest.raises(RuntimeError, match="PUT /things"):
        guarding.router(routes)


async def test_work_that_did_not_come_through_the_door_opens_nothing() -> None:
    database: Any = guard().door.database
    with pytest.raises(RuntimeError):
        async with database.transaction():
            raise AssertionError("opened")
