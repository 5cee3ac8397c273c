"""The OpenAPI document tells the truth: every route, called with its documented example, answers as documented."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from api.app.documentation import operations_of
from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from local_stack.backing import Backing

from .answering import answering
from .notifying import notifying
from .repairing import repairing
from .running import RunningApi
from .test_dead_letters import owed
from .walk import CLIENT, FLEET, LETTERS, PARTING, Walk, steps

SNAPSHOT = Path(__file__).parents[3] / "services" / "api" / "openapi.json"
DOCUMENT: dict[str, Any] = json.loads(SNAPSHOT.read_text())
OPERATIONS = dict(operations_of(DOCUMENT))


@pytest.fixture(scope="module")
async def walked(
    backing: Backing,
    api_database: TestDatabase,
    running_api: RunningApi,
    default_number: str,
    vhost: VirtualHost,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Walk]:
    walk = Walk(running_api)
    folder = tmp_path_factory.mktemp("walk")
    async with (
        notifying(backing, api_database, vhost, folder),
        answering(api_database.url("dispatcher"), vhost.url),
        repairing(api_database.url("reconciler"), vhost.url) as letters,
    ):
        walk.bury = lambda: letters.bury(owed())
        await walk.to_clients()
        await walk.go(*CLIENT, *FLEET, *LETTERS, *PARTING)
        yield walk


def test_the_walk_visits_every_documented_route() -> None:
    assert {step.operation for step in steps()} == set(OPERATIONS)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
async def test_the_example_answers_as_documented(walked: Walk, operation: str) -> None:
    responses = OPERATIONS[operation]["responses"]
    content = next(responses[status] for status in responses if status.startswith("2"))["content"]["application/json"]
    answer = walked.answers[operation]
    jsonschema.validate(answer, {**content["schema"], "components": DOCUMENT["components"]})
    jsonschema.validate(content["example"], {**content["schema"], "components": DOCUMENT["components"]})
    shown, real = (body[0] if isinstance(body, list) and body else body for body in (content["example"], answer))
    if isinstance(real, dict):
        assert set(real) <= set(shown)


async def test_the_running_api_serves_the_committed_document(running_api: RunningApi) -> None:
    assert (await running_api.client.get("/openapi.json")).json() == DOCUMENT
