"""A tenant's projects, and the addresses that are answered with NOT_IMPLEMENTED."""

import pytest
from pilot_status import types as sdk
from tests.sdk_shapes import fits

from .customers import Customer, new_customer
from .running import RunningApi, code_of

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
GAPS = [
    "ads/accounts",
    "ads/summary",
    "branding",
    "calls",
    "calls/settings",
    "calls/x/accept",
    "chatwoot",
    "conversations",
    "flows",
    "lead-pages/x",
    "leads",
    "leads/x",
    "media/x",
    "messages/group",
    "messages/typing",
    "messages/unread",
    "newsletters",
    "numbers/remote-pairing",
    "numbers/x/upgrade-to-dual",
    "phone-lines/verification",
    "referrals",
    "referrals/summary",
    "remote-pairing/x/status",
    "subscription",
]


async def test_projects_are_opened_and_listed(customer: Customer) -> None:
    project = await customer.done("POST", "projects", body={"name": "Loja São José!", "description": "Balcão"})
    fits(sdk.Project, project)
    assert (project["slug"], project["description"], project["productionApproved"]) == (
        "loja-sao-jose",
        "Balcão",
        False,
    )
    twin = await customer.done("POST", "projects", body={"name": "loja SAO jose", "description": None})
    assert twin["slug"].startswith("loja-sao-jose-")
    foreign = await customer.done("POST", "projects", body={"name": "商店"})
    assert foreign["slug"] == "project"
    listed = await customer.done("GET", "projects")
    fits(list[sdk.Project], listed)
    assert [row["id"] for row in listed][1:] == [project["id"], twin["id"], foreign["id"]]
    assert listed[0]["id"] == customer.account.project_id
    stranger = await new_customer(customer.api)
    assert [row["id"] for row in await stranger.done("GET", "projects")] == [stranger.account.project_id]


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "a" * 101}, {"name": "a\x00"}, {"name": 7}, {"name": None}]
)
async def test_a_project_needs_a_name(customer: Customer, body: dict[str, object]) -> None:
    assert code_of(await customer.call("POST", "projects", body=body)) == (400, "VALIDATION_FAILED")


@pytest.mark.parametrize("path", GAPS)
async def test_what_is_out_of_scope_says_so(api: RunningApi, customer: Customer, path: str) -> None:
    for method in METHODS:
        assert code_of(await customer.call(method, path)) == (404, "NOT_IMPLEMENTED"), method
        assert code_of(await api.client.request(method, f"/v1/{path}")) == (401, "API_KEY_INVALID"), method


async def test_a_second_device_is_out_of_scope(customer: Customer) -> None:
    created = await customer.create_number("+5511972000001")
    for verb in ("connect", "status"):
        answer = await customer.call("GET", f"numbers/{created['instance']['id']}/{verb}", link="secondary")
        assert code_of(answer) == (404, "NOT_IMPLEMENTED")
