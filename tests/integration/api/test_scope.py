"""Two projects of one tenant on one number: neither sees, counts or cancels what is the other's."""

from uuid import UUID

from .running import Account, RunningApi, code_of
from .stored import START, store
from .test_history import history, own


async def test_projects_of_one_tenant_are_strangers(api: RunningApi) -> None:
    account, number_id = await own(api)
    project = await api.operator("projects", tenantId=account.tenant_id, name="other")
    sibling = Account(
        tenant_id=account.tenant_id,
        project_id=project["id"],
        key=await api.key(project["id"], number_id=str(number_id)),
    )
    [message_id] = await store(api, account, number_id=number_id, start=START)
    [queued] = await store(api, account, status="QUEUED", number_id=number_id, start=START)
    correlation_id = (await api.rows("SELECT correlation_id FROM api.messages WHERE id = $1", UUID(queued)))[0][0]
    for reference in (message_id, queued, correlation_id):
        for path in (f"messages/{reference}", f"messages/{reference}/timeline"):
            assert code_of(await api.get(sibling.key, path)) == (404, "MESSAGE_NOT_FOUND")
            assert (await api.get(account.key, path)).status_code == 200
    assert (await api.get(sibling.key, "messages")).json()["messages"] == []
    assert (await history(api, sibling.key))["total"] == 0
    assert (await history(api, account.key))["total"] == 1
    body, headers = {"messageIds": [queued, correlation_id]}, {"x-api-key": sibling.key}
    answer = (await api.client.request("DELETE", "/v1/messages/cancel", json=body, headers=headers)).json()
    assert [failure["reason"] for failure in answer["failed"]] == ["NOT_FOUND", "NOT_FOUND"]
    assert (await api.get(account.key, f"messages/{queued}")).json()["status"] == "QUEUED"
