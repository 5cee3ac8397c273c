"""Who may send what to whom: each rule refuses with a code of its own, and refused sends leave no row."""

from typing import Any
from uuid import UUID

from contracts.values import ConnectionState

from .running import Account, RunningApi, code_of, soon

STRANGER = "+5547988887777"


async def live_account(api: RunningApi) -> Account:
    return await api.account(environment="LIVE", approved=True)


async def test_test_keys_send_to_profiles_only(api: RunningApi) -> None:
    account = await api.account()
    refused = await api.send(account.key, destinationNumber=STRANGER)
    assert code_of(refused) == (403, "TEST_DESTINATION_NOT_ALLOWED")
    await api.profile(account.tenant_id, STRANGER)

    async def is_known() -> bool:
        return (await api.send(account.key, destinationNumber=STRANGER)).status_code == 202

    await soon(is_known, "the new profile known")


async def test_case_13_a_profile_is_one_person_with_and_without_the_ninth_digit(api: RunningApi) -> None:
    account = await api.account()
    await api.profile(account.tenant_id, "+5531988000000")

    async def is_known() -> bool:
        return (await api.send(account.key, destinationNumber="553188000000")).status_code == 202

    await soon(is_known, "the profile known by its older number")


async def test_a_profile_is_of_one_tenant(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    await api.profile(other.tenant_id, STRANGER)
    refused = await api.send(account.key, destinationNumber=STRANGER)
    assert code_of(refused) == (403, "TEST_DESTINATION_NOT_ALLOWED")


async def test_a_plan_may_let_test_keys_send_to_anyone(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, testAnyone=True)
    assert (await api.send(account.key, destinationNumber=STRANGER)).status_code == 202


async def test_a_number_does_not_send_to_itself(api: RunningApi, default_number: str) -> None:
    account = await live_account(api)
    number = await api.number(tenantId=account.tenant_id, phone="+5547988881234", state=ConnectionState.OPEN)
    key = await api.key(account.project_id, environment="LIVE", number_id=number["id"])
    for to in ("+5547988881234", "+554788881234"):
        assert code_of(await api.send(key, destinationNumber=to)) == (400, "PILOT_SELF_NUMBER")
    batch = await api.client.post(
        "/v1/messages/batch",
        json={"messages": [{"text": "x", "destinationNumber": to} for to in (STRANGER, "+5547988881234")]},
        headers={"x-api-key": key},
    )
    assert [result.get("code") for result in batch.json()["results"]] == [None, "PILOT_SELF_NUMBER"]


async def test_a_tenant_key_cannot_send(api: RunningApi) -> None:
    account = await api.account()
    issued = await api.operator("keys", projectId=account.project_id, environment="TEST", name="all", scope="tenant")
    assert code_of(await api.send(issued["key"])) == (403, "TENANT_SCOPE_NOT_ALLOWED")
    batch = await api.client.post(
        "/v1/messages/batch", json={"messages": [{"text": "x"}]}, headers={"x-api-key": issued["key"]}
    )
    assert code_of(batch) == (403, "TENANT_SCOPE_NOT_ALLOWED")


async def test_marketing_needs_an_own_number(api: RunningApi) -> None:
    account = await api.account()
    template = await api.template(account, body="oferta", category="MARKETING")
    refused = await api.send(account.key, templateId=template["id"])
    assert code_of(refused) == (403, "MARKETING_NEEDS_OWN_NUMBER")
    own = await api.number(state=ConnectionState.OPEN, tenantId=account.tenant_id)
    key = await api.key(account.project_id, number_id=own["id"])
    assert (await api.send(key, templateId=template["id"])).status_code == 202


async def test_live_messages_from_the_platforms_number_need_consent(api: RunningApi) -> None:
    account = await live_account(api)
    refused = await api.send(account.key)
    assert code_of(refused) == (403, "OPT_IN_REQUIRED")
    assert refused.json()["reason"] == "NO_OPTIN"
    assert not await api.rows("SELECT 1 FROM api.messages WHERE project_id = $1", UUID(account.project_id))
    await api.opt_in(account.key)
    assert (await api.send(account.key)).status_code == 202
    headers, recipient = {"x-api-key": account.key}, {"destinationNumber": "+5547991000000"}
    withdrawn = await api.client.request("DELETE", "/v1/opt-ins", json=recipient, headers=headers)
    assert withdrawn.status_code == 200
    again = await api.client.request("DELETE", "/v1/opt-ins", json=recipient, headers=headers)
    assert code_of(again) == (404, "OPT_IN_NOT_FOUND")
    assert code_of(await api.send(account.key)) == (403, "OPT_IN_REQUIRED")


async def test_codes_pass_without_consent_and_so_do_own_numbers(api: RunningApi) -> None:
    account = await live_account(api)
    code = await api.template(account, body="123", category="OTP", productionApproved=True)
    assert (await api.send(account.key, templateId=code["id"])).status_code == 202
    other = await api.template(account, body="123", category="UTILITY", productionApproved=True)
    assert code_of(await api.send(account.key, templateId=other["id"])) == (403, "OPT_IN_REQUIRED")
    own = await api.number(state=ConnectionState.OPEN, tenantId=account.tenant_id)
    key = await api.key(account.project_id, environment="LIVE", number_id=own["id"])
    assert (await api.send(key, templateId=other["id"])).status_code == 202


async def test_the_older_opt_in_route_says_why(api: RunningApi) -> None:
    account = await live_account(api)

    async def ask(key: str, phone: str) -> dict[str, Any]:
        answer = await api.client.get(
            "/v1/messages/opt-in", params={"destinationNumber": phone}, headers={"x-api-key": key}
        )
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        assert set(body) == {"authorized", "required", "enabled", "reason", "firstOptInAt", "lastSeenAt"}
        return body

    unknown = await ask(account.key, "+5547991000000")
    assert (unknown["authorized"], unknown["required"], unknown["reason"]) == (False, True, "NO_OPTIN")
    await api.opt_in(account.key)
    known = await ask(account.key, "554791000000")
    assert (known["authorized"], known["required"], known["reason"]) == (True, True, None)
    assert known["firstOptInAt"] is not None
    assert (await ask(account.key, "n/a"))["reason"] == "INVALID_PHONE"
    test_key = await api.key(account.project_id)
    assert (await ask(test_key, "+5547991000000"))["reason"] == "NOT_LIVE"
    own = await api.number(state=ConnectionState.OPEN)
    key = await api.key(account.project_id, environment="LIVE", number_id=own["id"])
    assert (await ask(key, "+5547991000000"))["reason"] == "NON_DEFAULT_INSTANCE"


async def test_consent_is_to_one_project(api: RunningApi) -> None:
    account, other = await live_account(api), await live_account(api)
    await api.opt_in(other.key)
    assert code_of(await api.send(account.key)) == (403, "OPT_IN_REQUIRED")


async def test_media_needs_a_plan_that_includes_it(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, mediaAllowed=False)
    refused = await api.send(account.key, text=None, media="https://example.org/a.png", mediaType="image")
    assert code_of(refused) == (402, "SUBSCRIPTION_REQUIRED_FOR_MEDIA")
    assert (await api.send(account.key)).status_code == 202


async def test_a_tenants_default_country_completes_its_numbers(api: RunningApi) -> None:
    account = await api.account()
    assert code_of(await api.send(account.key, destinationNumber="(47) 99100-0000")) == (400, "DESTINATION_INVALID")
    await api.plan(account, country="BR")
    sent = await api.send(await api.key(account.project_id), destinationNumber="(47) 99100-0000")
    details = (await api.get(account.key, f"messages/{sent.json()['id']}")).json()
    assert details["destinationNumber"] == "+5547991000000"


async def test_a_key_has_a_rate(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, requestsPerMinute=3)
    answers = [await api.send(account.key) for _ in range(4)]
    assert [answer.status_code for answer in answers[:3]] == [202, 202, 202]
    assert code_of(answers[3]) == (429, "RATE_LIMITED")
    assert 1 <= int(answers[3].headers["retry-after"]) <= 20
    assert answers[3].json()["retryAfterSeconds"] == int(answers[3].headers["retry-after"])
    assert answers[3].headers["ratelimit-policy"] == '"requests";q=3;w=60'
    assert (await api.send(await api.key(account.project_id))).status_code == 202
