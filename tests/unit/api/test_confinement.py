"""Every statement that reads messages is confined to tenant, project, number and environment of its caller."""

from collections.abc import Callable
from typing import Any

import pytest

from api.messages.domain.listing import Filters
from api.messages.domain.scope import Scope
from api.messages.store.listing import newest
from api.messages.store.reading import one
from api.messages.store.rows import within
from contracts.ids import uuid7
from contracts.values import Environment

SCOPE = Scope(tenant_id=uuid7(), project_id=uuid7(), number_id=uuid7(), environment=Environment.TEST)
WIDEST = Scope(tenant_id=SCOPE.tenant_id, project_id=None, number_id=None, environment=None)
COLUMNS = {"tenant_id", "project_id", "number_id", "environment"}


def columns_of(scope: Scope) -> dict[str, object]:
    conditions: Any = within(scope)
    return {condition.left.name: condition.right.value for condition in conditions}


def test_a_scope_confines_by_all_it_names() -> None:
    assert columns_of(SCOPE) == {
        "tenant_id": SCOPE.tenant_id,
        "project_id": SCOPE.project_id,
        "number_id": SCOPE.number_id,
        "environment": "TEST",
    }


def test_the_tenant_is_never_left_out() -> None:
    assert columns_of(WIDEST) == {"tenant_id": SCOPE.tenant_id}


@pytest.mark.parametrize(
    "statement",
    [
        lambda: newest(SCOPE, Filters(), after=None, limit=1),
        lambda: one(SCOPE, reference="3EB0", message_id=uuid7()),
    ],
    ids=["the list", "one message"],
)
def test_statements_are_confined(statement: Callable[[], Any]) -> None:
    where = str(statement().whereclause)
    assert all(f"messages.{column} = " in where for column in COLUMNS), where
