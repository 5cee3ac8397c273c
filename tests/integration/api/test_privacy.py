"""Nothing personal rests in clear: a planted recipient, text and name are searched in every column of every table."""

from uuid import UUID

from .running import RunningApi, soon

PHONE, TEXT, NAME = "5547981234567", "Segredo-do-recado", "Josefina-Plantada"


async def everything(api: RunningApi) -> dict[str, str]:
    """All rows of each table of the schema as text, bytes read as UTF-8."""
    columns = await api.rows(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'api'"
    )
    found: dict[str, str] = {}
    for table in {row["table_name"] for row in columns}:
        shown = ", ".join(
            f"encode({row['column_name']}, 'escape')"
            if row["data_type"] == "bytea"
            else f'"{row["column_name"]}"::text'
            for row in columns
            if row["table_name"] == table
        )
        rows = await api.rows(f"SELECT concat_ws(' ', {shown}) AS line FROM api.{table}")
        found[table] = "\n".join(row["line"] for row in rows)
    return found


async def test_no_table_and_no_log_shows_what_was_planted(api: RunningApi) -> None:
    account = await api.account()
    await api.profile(account.tenant_id, f"+{PHONE}")
    await api.opt_in(account.key, f"+{PHONE}")
    assert (await api.get(account.key, f"messages/opt-in?destinationNumber=%2B{PHONE}")).status_code == 200
    template = await api.template(account, body="Oi {{nome}}")
    api.broker_wire.cut()
    sent = [
        await api.send(account.key, destinationNumber=f"+{PHONE}", text=TEXT),
        await api.send(account.key, destinationNumber=f"+{PHONE}", templateId=template["id"], variables={"nome": NAME}),
    ]
    refused = [
        await api.send(account.key, destinationNumber=f"{PHONE} {NAME}", text=TEXT),
        await api.send(account.key, destinationNumber=f"+{PHONE}", text=TEXT, deliverAt=NAME),
        await api.send(
            account.key, destinationNumber=f"+{PHONE}", templateId=template["id"], variables={"nome": [TEXT]}
        ),
        await api.send(account.key, destinationNumber=[PHONE], text={"a": TEXT}),
    ]
    assert [answer.status_code for answer in sent] == [202, 202]
    assert {answer.status_code for answer in refused} == {400}
    tables = await everything(api)
    assert {"messages", "outbox", "message_steps", "api_keys"} <= set(tables)
    assert sent[0].json()["id"] in tables["messages"]
    assert sent[0].json()["id"] in tables["outbox"]
    for planted in (PHONE, PHONE[2:], PHONE[4:], TEXT, NAME, account.key, account.key.split("_", 3)[3]):
        for table, content in tables.items():
            assert planted not in content, table
        assert planted not in api.log()
    for answer in refused:
        for planted in (PHONE[4:], TEXT):
            assert planted not in answer.text

    async def is_published() -> bool:
        return not await api.rows("SELECT 1 FROM api.outbox")

    await api.mend()
    await soon(is_published, "everything published")
    assert not any(planted in api.log() for planted in (PHONE, TEXT, NAME, account.key))


async def test_the_owner_reads_what_nobody_else_can(api: RunningApi) -> None:
    account = await api.account()
    await api.profile(account.tenant_id, f"+{PHONE}")
    answer = await api.send(account.key, destinationNumber=f"+{PHONE}", text=TEXT)
    row = (await api.rows("SELECT sealed FROM api.messages WHERE id = $1", UUID(answer.json()["id"])))[0]
    assert PHONE not in row["sealed"]
    details = (await api.get(account.key, f"messages/{answer.json()['id']}")).json()
    assert details["destinationNumber"] == f"+{PHONE}"
