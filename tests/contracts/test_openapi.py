"""The committed OpenAPI document is what the code says, documents every route whole, and a breaking edit is refused."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.app.documentation import operations_of
from api.app.documentation.compatibility import breaking_changes
from api.app.documentation.refused import REFUSALS
from api.app.documentation.requests import REQUESTS
from api.app.documentation.snapshot import SNAPSHOT

Document = dict[str, Any]
COMMITTED: Document = json.loads(SNAPSHOT.read_text())
OPERATIONS = dict(operations_of(COMMITTED))


def test_the_committed_document_is_current(tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    subprocess.run([sys.executable, "-m", "api.app.documentation.snapshot", str(path)], check=True, timeout=60)
    fresh = path.read_text()
    assert breaking_changes(COMMITTED, json.loads(fresh)) == []
    assert SNAPSHOT.read_text() == fresh, "run `make openapi`"


def test_a_breaking_edit_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    promised = copy.deepcopy(COMMITTED)
    promised["paths"]["/v1/promised"] = {"get": {"responses": {"200": {"description": "Promised"}}}}
    path.write_text(json.dumps(promised))
    command = [sys.executable, "-m", "api.app.documentation.snapshot", str(path)]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 1
    assert "GET /v1/promised: removed" in done.stderr
    assert json.loads(path.read_text()) == promised


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_route_is_documented_whole(name: str) -> None:
    operation = OPERATIONS[name]
    method, path = name.split(" ")
    assert operation["summary"]
    assert operation["description"]
    assert operation["security"] == [{"OperatorKey" if "/admin/" in path else "ApiKey": []}]
    statuses = set(operation["responses"])
    assert {"400", "401", "503"} <= statuses
    assert "422" not in statuses
    assert ("429" in statuses) == ("/admin/" not in path)
    assert not path.endswith("_id}") or "404" in statuses
    assert ({"408", "413"} <= statuses) == (method != "GET")
    assert "requestBody" not in operation or operation["requestBody"]["content"]["application/json"]["examples"]
    success = next(operation["responses"][status] for status in statuses if status.startswith("2"))
    content = success["content"]["application/json"]
    assert content["schema"]
    assert "example" in content


def test_every_error_is_the_one_schema() -> None:
    answers = [*COMMITTED["components"]["responses"].values()]
    answers += [
        answer
        for operation in OPERATIONS.values()
        for status, answer in operation["responses"].items()
        if not status.startswith("2") and "$ref" not in answer
    ]
    assert len(answers) > 50
    for answer in answers:
        content = answer["content"]["application/json"]
        assert content["schema"]["allOf"] == [{"$ref": "#/components/schemas/Error"}]
        assert len(content["examples"]) == len(content["schema"]["properties"]["code"]["enum"]) > 0


def test_nothing_is_told_of_routes_that_are_not_there() -> None:
    assert set(REFUSALS) <= set(OPERATIONS)
    assert set(REQUESTS) == {name for name, operation in OPERATIONS.items() if "requestBody" in operation}


def remove_route(document: Document) -> None:
    del document["paths"]["/v1/messages/send"]


def remove_method(document: Document) -> None:
    del document["paths"]["/v1/numbers/{number_id}"]["patch"]


def remove_member_of_body(document: Document) -> None:
    del document["components"]["schemas"]["SendBody"]["properties"]["labels"]


def narrow_member_of_body(document: Document) -> None:
    document["components"]["schemas"]["CancelBody"]["properties"]["messageIds"]["maxItems"] = 5


def require_more(document: Document) -> None:
    document["components"]["schemas"]["SendBody"]["required"] = ["text"]


def require_a_parameter(document: Document) -> None:
    parameters = document["paths"]["/v1/messages"]["get"]["parameters"]
    next(each for each in parameters if each["name"] == "label")["required"] = True


def remove_a_parameter(document: Document) -> None:
    document["paths"]["/v1/messages"]["get"]["parameters"].pop()


def change_status(document: Document) -> None:
    responses = document["paths"]["/v1/messages/send"]["post"]["responses"]
    responses["200"] = responses.pop("202")


def remove_member_of_answer(document: Document) -> None:
    content = document["paths"]["/v1/messages/send"]["post"]["responses"]["202"]["content"]["application/json"]
    del content["schema"]["properties"]["correlationId"]


def remove_member_of_items(document: Document) -> None:
    content = document["paths"]["/v1/webhooks"]["get"]["responses"]["200"]["content"]["application/json"]
    del content["schema"]["items"]["properties"]["url"]


def retype_member_of_one_kind_of_items(document: Document) -> None:
    content = document["paths"]["/v1/api-keys"]["get"]["responses"]["200"]["content"]["application/json"]
    content["schema"]["items"]["anyOf"][1]["properties"]["keyPrefix"]["type"] = "number"


def leave_member_of_items_out(document: Document) -> None:
    content = document["paths"]["/v1/webhooks"]["get"]["responses"]["200"]["content"]["application/json"]
    content["schema"]["items"]["required"].remove("url")


def answer_another_kind_of_items(document: Document) -> None:
    content = document["paths"]["/v1/api-keys"]["get"]["responses"]["200"]["content"]["application/json"]
    content["schema"]["items"]["anyOf"].append({"type": "string"})


def answer_an_object_for_a_list(document: Document) -> None:
    content = document["paths"]["/v1/numbers"]["get"]["responses"]["200"]["content"]["application/json"]
    content["schema"] = {"type": "object"}


@pytest.mark.parametrize(
    "edit",
    [
        remove_route,
        remove_method,
        remove_member_of_body,
        narrow_member_of_body,
        require_more,
        require_a_parameter,
        remove_a_parameter,
        change_status,
        remove_member_of_answer,
        remove_member_of_items,
        retype_member_of_one_kind_of_items,
        leave_member_of_items_out,
        answer_another_kind_of_items,
        answer_an_object_for_a_list,
    ],
    ids=lambda edit: edit.__name__,
)
def test_breaking_edits_are_named(edit: Callable[[Document], None]) -> None:
    edited = copy.deepcopy(COMMITTED)
    edit(edited)
    assert breaking_changes(COMMITTED, edited)


def test_additive_edits_pass() -> None:
    edited = copy.deepcopy(COMMITTED)
    edited["components"]["schemas"]["SendBody"]["properties"]["colour"] = {"type": "string"}
    edited["paths"]["/v1/colours"] = {"get": {"responses": {"200": {"description": "New"}}}}
    edited["paths"]["/v1/messages"]["get"]["parameters"].append(
        {"name": "colour", "in": "query", "required": False, "schema": {"type": "string"}}
    )
    content = edited["paths"]["/v1/messages/send"]["post"]["responses"]["202"]["content"]["application/json"]
    content["schema"]["properties"]["colour"] = {"type": "string"}
    content["schema"]["required"].append("colour")
    webhooks = edited["paths"]["/v1/webhooks"]["get"]["responses"]["200"]["content"]["application/json"]
    webhooks["schema"]["items"]["properties"]["colour"] = {"type": "string"}
    webhooks["schema"]["items"]["required"].append("colour")
    assert breaking_changes(COMMITTED, edited) == []
