"""A customer's URL is never a way into our network: refused at save, and again at every dial."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from contracts.questions import EndpointRegistered, RegisterEndpoint, Rejected

PUBLIC, METADATA = "93.184.216.34", "169.254.169.254"
FORBIDDEN = [
    "http://example.com/hook",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://127.1/",
    "https://0177.0.0.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/",
    "https://10.0.0.5/",
    "https://192.168.1.1/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://user:pw@example.com/",
    "https://example.com:5672/",
    "https://localhost/",
    "ftp://example.com/",
    "https://",
    "not a url",
]


class Names:
    """A resolver whose answers change from call to call; the last one repeats."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def ask(rig: Any, url: str) -> EndpointRegistered | Rejected:
    asked = RegisterEndpoint(tenant_id=uuid4(), number_id=uuid4(), instance="acme", name="hook", url=url, events=("*",))
    answer = await rig.register(asked)
    assert isinstance(answer, EndpointRegistered | Rejected)
    return answer


@pytest.mark.parametrize("url", FORBIDDEN)
async def test_refused_at_save(build: Any, url: str) -> None:
    rig = await build(allow_private=False, resolve=Names([PUBLIC]))
    answer = await ask(rig, url)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.field) == ("WEBHOOK_URL_REFUSED", "url")
    assert await rig.rows("SELECT 1 FROM notifier.endpoints") == []


async def test_accepted_at_save(build: Any) -> None:
    rig = await build(allow_private=False, resolve=Names([PUBLIC]))
    for url in ("https://example.com/hook", "https://example.com:8443/hook?token=1", f"https://{PUBLIC}/"):
        assert isinstance(await ask(rig, url), EndpointRegistered)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], [PUBLIC, METADATA], ["::1"], []])
async def test_a_name_with_any_forbidden_address_is_refused_at_save(build: Any, addresses: list[str]) -> None:
    rig = await build(allow_private=False, resolve=Names(addresses))
    assert isinstance(await ask(rig, "https://hook.example.com/"), Rejected)


@pytest.mark.parametrize(
    ("addresses", "problem"),
    [(["127.0.0.1"], "FORBIDDEN_TARGET"), ([PUBLIC, METADATA], "FORBIDDEN_TARGET"), ([], "NAME_NOT_RESOLVED")],
)
async def test_public_at_save_and_private_at_send_is_never_dialled(
    build: Any, customer: Any, addresses: list[str], problem: str
) -> None:
    names = Names([PUBLIC], addresses)
    rig = await build(allow_private=False, resolve=names)
    port = customer.url().split(":")[2].split("/")[0]
    await rig.endpoint("https://hook.example.com/hook")
    await rig.hear(rig.fact())
    await rig.work_off()
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert (attempt.status, attempt.problem) == (None, problem)
    assert names.asked == 2
    assert customer.connections == 0, port


async def test_an_address_that_slipped_into_the_table_is_not_dialled(build: Any, customer: Any) -> None:
    rig = await build(allow_private=False, resolve=Names([PUBLIC]))
    await rig.endpoint("https://hook.example.com/hook")
    await rig.rows("UPDATE notifier.endpoints SET url = :url RETURNING 1", url=customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    [attempt] = await rig.rows("SELECT * FROM notifier.delivery_attempts")
    assert attempt.problem == "FORBIDDEN_TARGET"
    assert customer.connections == 0
