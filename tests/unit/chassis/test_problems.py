"""Every error answer has one shape, a helpful sentence and a stable code, and repeats nothing the client sent."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import httpx
import pytest
from aio_pika.exceptions import AMQPConnectionError
from fastapi import Body, FastAPI, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field, field_validator
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from chassis.database import UnavailableError
from chassis.health import Health
from chassis.problems import Problem
from chassis.web import create_app

PLANTED = "canary 5511987654321"


class DriverError(Exception):
    """What a driver raises below SQLAlchemy."""

    def __init__(self, sqlstate: str | None = None, text: str = PLANTED) -> None:
        super().__init__(text)
        self.sqlstate = sqlstate


class Dog(BaseModel):
    kind: Literal["dog"]


class Cat(BaseModel):
    kind: Literal["cat"]


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=5)
    size: int = 1
    pet: Annotated[Dog | Cat, Field(discriminator="kind")] | None = None
    parts: dict[str, int] = {}

    @field_validator("name")
    @classmethod
    def _no_x(cls, value: str) -> str:
        if "x" in value:
            raise ValueError("must not hold an x")
        return value


RAISED: dict[str, Exception] = {
    "problem": Problem(
        409, "TAKEN", "It is taken.", extras={"until": "noon", "code": "X"}, headers={"retry-after": "7"}
    ),
    "unavailable": UnavailableError(PLANTED),
    "operational": OperationalError("SELECT", {"p": PLANTED}, DriverError()),
    "shutdown": DBAPIError("SELECT", {"p": PLANTED}, DriverError("57P01")),
    "deadlock": DBAPIError("SELECT", {"p": PLANTED}, DriverError("40P01")),
    "driver": DriverError("08006"),
    "pool": PoolTimeoutError(PLANTED),
    "refused": ConnectionRefusedError(111, PLANTED),
    "os": OSError(PLANTED),
    "timeout": TimeoutError(PLANTED),
    "broker": AMQPConnectionError(PLANTED),
    "bug": ZeroDivisionError(PLANTED),
    "file": FileNotFoundError(2, PLANTED),
    "integrity": IntegrityError("INSERT", {"p": PLANTED}, DriverError("23505")),
    "framework": HTTPException(418, detail=PLANTED),
}


def build() -> FastAPI:
    app = create_app(service="tester", health=Health(), title="Tester", body_bytes_max=2000)

    @app.post("/items")
    async def create(item: Item) -> dict[str, str]:
        return {"name": item.name}

    @app.post("/free")
    async def free(body: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        return body

    @app.get("/items")
    async def find(limit: Annotated[int, Query(le=10)] = 1) -> int:
        return limit

    @app.get("/raise/{name}")
    async def fail(name: str) -> None:
        raise RAISED[name]

    return app


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(build()), base_url="http://tester") as client:
        yield client


def assert_shape(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"], body["code"]) == (status, status, code)
    assert response.headers["content-type"] == "application/json"
    assert body["error"] == body["detail"]
    assert len(body["error"]) > 5
    assert body["type"] == "about:blank"
    assert body["title"]
    assert body["requestId"] == response.headers["x-request-id"]
    assert body["instance"] == f"urn:request:{body['requestId']}"
    assert "canary" not in response.text
    assert "5511987654321" not in response.text
    return body


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        *(
            (name, 503, "SERVICE_UNAVAILABLE")
            for name in (
                "unavailable", "operational", "shutdown", "deadlock", "driver", "pool", "refused", "os", "timeout",
                "broker",
            )
        ),
        *((name, 500, "INTERNAL_ERROR") for name in ("bug", "file", "integrity")),
        ("framework", 418, "IM_A_TEAPOT"),
        ("problem", 409, "TAKEN"),
    ],
)  # fmt: skip
async def test_exceptions(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, name: str, status: int, code: str
) -> None:
    with caplog.at_level(logging.INFO):
        response = await client.get(f"/raise/{name}")
    assert_shape(response, status, code)
    assert (response.headers.get("retry-after") == "1") == (status == 503)
    assert ("request_failed" in caplog.messages) == (status == 500)


async def test_extras_and_headers_are_added_but_replace_nothing(client: httpx.AsyncClient) -> None:
    response = await client.get("/raise/problem")
    body = assert_shape(response, 409, "TAKEN")
    assert body["until"] == "noon"
    assert response.headers["retry-after"] == "7"


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({}, "name", "Field required"),
        ({"name": PLANTED}, "name", "String should have at most 5 characters"),
        ({"name": "x"}, "name", "must not hold an x"),
        (
            {"name": "a", "size": PLANTED},
            "size",
            "Input should be a valid integer, unable to parse string as an integer",
        ),
        ({"name": "a", "pet": {"kind": PLANTED}}, "pet", "Expected one of 'dog', 'cat'"),
        ({"name": "a", "parts": {"5511987654321": "canary"}}, "parts.***", None),
        ({"name": "a", "5511987654321": 1}, "***", None),
        ({"name": "a" * 6, "parts": {"b" * 500: "canary"}}, "name", None),
        ([], "", "a JSON body is expected, with the header `content-type: application/json`"),
        (7, "", "a JSON body is expected, with the header `content-type: application/json`"),
        (None, "", None),
    ],
)
async def test_wrong_fields_are_named(client: httpx.AsyncClient, sent: Any, field: str, message: str | None) -> None:
    body = assert_shape(await client.post("/items", json=sent), 400, "VALIDATION_FAILED")
    detail = body["details"][0]
    assert detail["field"] == field
    assert message is None or detail["message"] == message
    assert all(len(item["field"]) <= 100 for item in body["details"])


async def test_details_are_bounded(client: httpx.AsyncClient) -> None:
    sent = {"name": "a", **{f"f{index}": 1 for index in range(150)}}
    body = assert_shape(await client.post("/items", json=sent), 400, "VALIDATION_FAILED")
    assert len(body["details"]) == 50
    assert "149 more" in body["error"]


async def test_query_parameters_are_named(client: httpx.AsyncClient) -> None:
    body = assert_shape(await client.get("/items?limit=canary"), 400, "VALIDATION_FAILED")
    assert body["details"] == [
        {"field": "limit", "message": "Input should be a valid integer, unable to parse string as an integer"}
    ]


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b'{"name": canary}', 1, 10),
        (b'{\n  "name": "a",\n  canary\n}', 3, 3),
        ('{"é": "é", canary}'.encode(), 1, 12),
        (b'{"name": "canary', 1, 17),
        (b"[" * 1500, None, None),
        (b'{"size": NaN}', 1, 10),
        (b'{"name": "\xff\xfe"}', 1, 11),
        (b'\n{"name": "\xed\xa0\x80"}', 2, 11),
        ('{"name": "a"}'.encode("utf-16"), 1, None),
        (b'{"name": "a"} canary', 1, 15),
    ],
)
async def test_malformed_json_is_located(
    client: httpx.AsyncClient, content: bytes, line: int | None, column: int | None
) -> None:
    response = await client.post("/free", content=content, headers={"content-type": "application/json"})
    body = assert_shape(response, 400, "MALFORMED_JSON")
    assert line is None or body["line"] == line
    assert column is None or body["column"] == column
    assert f"line {body['line']}, column {body['column']}" in body["error"]


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (rb'{"a": ["b", "x\u0000"]}', "a.1"),
        (rb'{"a": {"b": [{"c": "cut \ud83d"}]}}', "a.b.0.c"),
        (rb'{"a": "\ude00 alone", "b": "\u0000"}', "a"),
        (rb'{"a": {"x\u0000": 1}}', "a"),
        (rb'{"a": {"\ud83d": 1}}', "a"),
        (rb'{"+5511987654321": "\u0000"}', "***"),
        (rb'{"x\u0000": 1}', ""),
        (rb'"\ud83d"', ""),
    ],
)
async def test_case_10_unfit_text_is_refused_by_the_name_of_its_field(
    client: httpx.AsyncClient, content: bytes, field: str
) -> None:
    response = await client.post("/free", content=content, headers={"content-type": "application/json"})
    body = assert_shape(response, 400, "VALIDATION_FAILED")
    assert [detail["field"] for detail in body["details"]] == [field]
    assert body["error"].startswith(f"{field}: " if field else "The body: ")
    assert "alone" not in response.text


async def test_case_10_whole_pairs_pass(client: httpx.AsyncClient) -> None:
    response = await client.post("/free", content=rb'{"a": "\ud83d\ude00"}')
    assert response.json() == {"a": "\U0001f600"}


async def test_case_10_a_half_pair_in_what_is_no_json_either_is_malformed(client: httpx.AsyncClient) -> None:
    for content in (rb'{"a": "\ud83d", }', b'"\\ud83d' + b"[" * 100_000):
        response = await client.post("/free", content=content[:1_900], headers={"content-type": "application/json"})
        assert_shape(response, 400, "MALFORMED_JSON")


async def test_an_escaped_backslash_is_no_nul(client: httpx.AsyncClient) -> None:
    response = await client.post("/free", content=rb'{"a": "\\u0000"}')
    assert response.json() == {"a": "\\u0000"}


@pytest.mark.parametrize("address", ["/raise/%00", "/items?limit=%00"])
async def test_nul_is_refused_in_addresses(client: httpx.AsyncClient, address: str) -> None:
    assert_shape(await client.get(address), 400, "VALIDATION_FAILED")


async def test_json_is_taken_without_a_content_type_and_asked_for_with_another(client: httpx.AsyncClient) -> None:
    content = json.dumps({"name": "a"})
    assert (await client.post("/items", content=content)).status_code == 200
    response = await client.post("/items", content=content, headers={"content-type": "text/plain"})
    assert "content-type: application/json" in assert_shape(response, 400, "VALIDATION_FAILED")["error"]
    assert "content-type" in assert_shape(await client.post("/items"), 400, "VALIDATION_FAILED")["error"]


async def test_unknown_addresses_and_methods(client: httpx.AsyncClient) -> None:
    assert_shape(await client.get("/nowhere/5511987654321"), 404, "ROUTE_NOT_FOUND")
    assert_shape(await client.post("/items/"), 404, "ROUTE_NOT_FOUND")
    response = await client.delete("/raise/x")
    assert_shape(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == "GET"


async def test_bodies_are_bounded_declared_or_not(client: httpx.AsyncClient) -> None:
    exact = b'{"a": "' + b"x" * (2000 - 9) + b'"}'
    assert len(exact) == 2000
    assert (await client.post("/free", content=exact)).status_code == 200
    body = assert_shape(await client.post("/free", content=exact + b" "), 413, "PAYLOAD_TOO_LARGE")
    assert body["maxBytes"] == 2000
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b" " * 500

    assert_shape(await client.post("/free", content=endless()), 413, "PAYLOAD_TOO_LARGE")
    assert taken <= 6
