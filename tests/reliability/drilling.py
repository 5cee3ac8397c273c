"""A system on which losses are rehearsed: what a drill takes away, and what an operator sees and does about it."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aio_pika
import asyncpg
import httpx
from tests.e2e.client import Client

from contracts.topology import lane_queue
from local_stack.environment import Service
from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until

SETTLE_SECONDS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """One customer's number on that system, seen by the customer, by an operator, and from below."""

    system: System
    account: Account
    client: Client
    operator: httpx.Client

    def pause(self) -> None:
        self._number("pause")

    def resume(self) -> None:
        self._number("resume")

    def _number(self, what: str) -> None:
        """Returns once the dispatcher has heard of it."""
        self.did("POST", f"numbers/{self.account.number_id}/{what}")
        wait_until(lambda: self._is_paused() is (what == "pause"), what=f"{what}d lane", timeout_seconds=30)

    def _is_paused(self) -> bool | None:
        """None while the dispatcher cannot be asked."""
        answer = self.operator.get(f"/numbers/{self.account.number_id}/lane")
        return bool(answer.json().get("paused")) if answer.is_success else None

    def did(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        answer = self.operator.request(method, f"/{path}", json=body or None)
        assert answer.is_success, answer.text
        return dict(answer.json())

    def saw(self, path: str, **parameters: Any) -> dict[str, Any]:
        answer = self.operator.get(f"/{path}", params=parameters)
        assert answer.is_success, answer.text
        return dict(answer.json())

    def send(self, *texts: str, **more: Any) -> list[str]:
        """Their ids, in that order."""
        return [self._accepted(text, number, **more) for number, text in enumerate(texts)]

    def _accepted(self, text: str, number: int, **more: Any) -> str:
        body = {"destinationNumber": f"+5547991{number:06d}", "text": text, **more}
        answer = self.client.http.post("/messages/send", json=body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def cancel(self, ids: Sequence[str]) -> list[str]:
        """Which of them will never be sent."""
        answer = self.client.http.request("DELETE", "/messages/cancel", json={"messageIds": list(ids)})
        assert answer.is_success, answer.text
        return list(answer.json()["cancelled"])

    def ends(self, ids: Sequence[str], status: str, *, within_seconds: float = SETTLE_SECONDS) -> None:
        """Return once all have that status."""
        deadline = time.monotonic() + within_seconds
        while True:
            known = Counter(self.client.read(message_id)["status"] for message_id in ids)
            if known == Counter({status: len(ids)}):
                return
            assert time.monotonic() < deadline, known
            time.sleep(0.3)

    def sent(self) -> Counter[str]:
        """How often each text really left."""
        return Counter(row["text"] for row in self.client.ledger())

    def has_jobs(self, ids: Sequence[str], *, state: str) -> bool:
        [row] = self.rows(
            "SELECT count(*) AS jobs FROM dispatcher.jobs WHERE message_id::text = ANY($1) AND state = $2", ids, state
        )
        return bool(row["jobs"] == len(ids))

    def metric(self, name: str, **labels: str) -> float:
        """What the api measures at this moment; 0 for what it never measured."""
        told = httpx.get(f"{self.system.api_url}/metrics", timeout=10, trust_env=False).text
        wanted = name + ("{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}" if labels else "")
        return next((float(line.split()[-1]) for line in told.splitlines() if line.startswith(f"{wanted} ")), 0.0)

    def rows(self, query: str, *arguments: Any) -> list[Any]:
        """Of any schema; writes too."""
        return asyncio.run(_rows(self.system.workspace.database_admin_url, query, arguments))

    def has_waiting(self, count: int) -> bool:
        """Whether so many messages are in the number's queue, taken by nobody."""
        return waiting_in(self.system, lane_queue(self.account.instance).name) == count

    def purge_lane(self) -> int:
        """Throw away everything in the number's queue; how much."""
        queue = lane_queue(self.account.instance).name
        return asyncio.run(_purge(self.system.workspace.broker_url, queue))


async def _rows(url: str, query: str, arguments: Sequence[Any]) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(query, *arguments))
    finally:
        await connection.close()


async def _purge(url: str, queue: str) -> int:
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        found = await channel.get_queue(queue, ensure=True)
        return int((await found.purge()).message_count or 0)


def waiting_in(system: System, queue: str) -> int:
    """Messages that nobody has taken from a queue yet."""

    async def count() -> int:
        async with await aio_pika.connect(system.workspace.broker_url) as connection:
            channel = await connection.channel()
            found = await channel.declare_queue(queue, passive=True)
            return int(found.declaration_result.message_count or 0)

    return asyncio.run(count())


DRILLED = {service: {"POOL_SIZE": "3"} for service in Service} | {
    Service.API: {"POOL_SIZE": "3", "BOOKS_INTERVAL_SECONDS": "1"},
    Service.DISPATCHER: {
        "POOL_SIZE": "4",
        "LEASE_SECONDS": "4",
        "ABSENCE_BELIEVED_AFTER_SECONDS": "2",
        "RESOLVE_WITHIN_SECONDS": "30",
        "GATEWAY_READ_TIMEOUT_SECONDS": "2",
    },
    Service.RECONCILER: {
        "POOL_SIZE": "3",
        "MESSAGE_RECONCILER_INTERVAL_MS": "300",
        "EVIDENCE_GRACE_SECONDS": "1",
        "ACK_GRACE_SECONDS": "3",
    },
}
"""What takes minutes in production takes seconds here."""
