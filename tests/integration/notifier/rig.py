"""The notifier's parts standing on a database, put together for tests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
from sqlalchemy import text

from chassis.clock import Clock, utc_now
from chassis.database import Database
from chassis.group_commit import GroupCommit
from chassis.guarded import Resolve, guarded_client
from chassis.http_client import Timeouts
from chassis.seal import KeyRing
from contracts.errors import ErrorCode
from contracts.facts import MessageStatusChanged
from contracts.ids import uuid7
from contracts.questions import EndpointRegistered, RegisterEndpoint
from contracts.registry import decode
from contracts.statement import Statement
from contracts.status import Status
from contracts.values import Category, Environment, MessageContent, MessageRef
from notifier.adapters import GuardedPoster, target_check
from notifier.domain.schedule import Schedule
from notifier.domain.settlement import Settlement
from notifier.jobs import Sending
from notifier.store.claims import Bounds
from notifier.tables import outbox
from notifier.usecases.deliver_webhook import DeliverWebhook
from notifier.usecases.manage_endpoint import ManageWebhook
from notifier.usecases.plan_deliveries import PlanDeliveries
from notifier.usecases.register_endpoint import RegisterWebhook
from notifier.usecases.replay_deliveries import ReplayWebhooks
from notifier.usecases.settle_attempts import settle_attempts
from notifier.usecases.try_endpoint import TryWebhook

SEAL_KEYS = "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
RING = KeyRing.parse(SEAL_KEYS)
WAIT_SECONDS = 20.0


async def eventually(condition: Callable[[], Awaitable[bool] | bool], what: str) -> None:
    """Poll until true; fail at a deadline."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while True:
        result = condition()
        if result if isinstance(result, bool) else await result:
            return
        assert asyncio.get_running_loop().time() < deadline, f"not within {WAIT_SECONDS} s: {what}"
        await asyncio.sleep(0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Where the migrated schema is, for the service's role and for an administrator."""

    url: str
    admin_url: str


@dataclass(slots=True, kw_only=True)
class Rig:
    """One replica of the notifier without its broker."""

    database: Database
    deliver: DeliverWebhook
    register: RegisterWebhook
    manage: ManageWebhook
    attempt: TryWebhook
    replay: ReplayWebhooks
    plans: GroupCommit[MessageStatusChanged, None]
    settlements: GroupCommit[Settlement, bool]
    tenant_id: UUID = field(default_factory=uuid4)
    number_id: UUID = field(default_factory=uuid4)
    ring: KeyRing = RING
    tasks: list[Sending] = field(default_factory=list)

    async def endpoint(self, url: str, *events: str, **changes: Any) -> tuple[UUID, str]:
        """Register an endpoint; its id and its secret."""
        asked = RegisterEndpoint(
            tenant_id=changes.get("tenant_id", self.tenant_id),
            number_id=changes.get("number_id", self.number_id),
            instance="acme",
            name="hook",
            url=url,
            events=events or ("*",),
        )
        answer = await self.register(asked)
        assert isinstance(answer, EndpointRegistered), answer
        endpoint_id = answer.endpoint.endpoint_id
        return endpoint_id, self.ring.open(answer.sealed_secret, aad=endpoint_id.bytes).decode()

    def fact(
        self, status: Status = Status.DELIVERED, *, text: str = "Olá", key_id: str | None = "3EB0", **changes: Any
    ) -> MessageStatusChanged:
        """A change of status of a new message of ours."""
        message_id = changes.pop("message_id", None) or uuid7()
        content = MessageContent(to="5511912345678", text=text)
        ref = MessageRef(
            message_id=message_id,
            tenant_id=changes.pop("tenant_id", self.tenant_id),
            project_id=uuid4(),
            number_id=changes.pop("number_id", self.number_id),
            instance="acme",
            environment=Environment.LIVE,
            category=Category.UTILITY,
            correlation_id="order-1",
            round=changes.pop("round", 1),
        )
        fields: dict[str, Any] = {
            "ref": ref,
            "previous": Status.QUEUED,
            "status": status,
            "changed_at": datetime.now(UTC),
            "version": 4,
            "error_code": ErrorCode.MESSAGE_EXPIRED if status is Status.FAILED else None,
            "key_id": key_id,
            "accepted_at": datetime.now(UTC),
            "sealed": self.ring.seal(content.model_dump_json().encode(), aad=message_id.bytes),
        }
        return MessageStatusChanged(**{**fields, **changes})

    async def hear(self, *facts: MessageStatusChanged) -> None:
        """What the subscriber does with each of them, all at once."""
        await asyncio.gather(*(self.plans.submit(fact) for fact in facts))

    async def work_off(self, *, now: datetime | None = None, slots: int = 100) -> int:
        """Claim once and carry out what was claimed; how much it was."""
        claimed = await self.deliver.claim(slots, now=now)
        await asyncio.gather(*(self.deliver.carry_out(delivery) for delivery in claimed))
        return len(claimed)

    async def run(self, *, calls_max: int = 100) -> Sending:
        """The sending loop, stopped at the end of the test."""
        sending = Sending(self.deliver, calls_max=calls_max)
        await sending.start()
        self.tasks.append(sending)
        return sending

    async def rows(self, query: str, **parameters: Any) -> Sequence[Any]:
        """Look at the tables."""
        async with self.database.transaction() as tx:
            return list(await tx.execute(text(query), parameters))

    async def states(self) -> list[str]:
        """Of all deliveries, in order of creation."""
        rows = await self.rows("SELECT state FROM notifier.deliveries ORDER BY delivery_id")
        return [row.state for row in rows]

    async def said(self) -> list[Statement]:
        """The outbox."""
        rows = await self.rows("SELECT type, body FROM notifier.outbox ORDER BY id")
        return [decode(row.type, row.body) for row in rows]


@dataclass(slots=True, kw_only=True)
class Builder:
    """Makes replicas on the same database."""

    schema: Schema
    stack: AsyncExitStack

    async def __call__(
        self,
        *,
        pauses: Sequence[float] = (0.01, 0.01),
        per_endpoint: int = 10,
        per_tenant: int = 100,
        failing_after: int = 5,
        timeout_seconds: float = 5.0,
        allow_private: bool = True,
        resolve: Resolve | None = None,
        lease_seconds: float = 30,
        poster: Any = None,
        clock: Clock = utc_now,
    ) -> Rig:
        database = Database(self.schema.url, outbox=outbox, pool_size=5)
        self.stack.push_async_callback(database.stop)
        client = await self.stack.enter_async_context(self._client(allow_private, timeout_seconds, resolve))
        settlements = GroupCommit[Settlement, bool](database, settle_attempts)
        plans = GroupCommit[MessageStatusChanged, None](database, PlanDeliveries(ring=RING).write)
        refusal_of = target_check(allow_private=allow_private, resolve=resolve)
        rig = Rig(
            database=database,
            settlements=settlements,
            plans=plans,
            register=RegisterWebhook(database=database, ring=RING, refusal_of=refusal_of, clock=utc_now),
            manage=ManageWebhook(database=database, ring=RING, refusal_of=refusal_of, clock=utc_now),
            attempt=TryWebhook(database=database, ring=RING, planned=lambda: None, clock=utc_now),
            replay=ReplayWebhooks(database=database, ring=RING, replayed=lambda: None, at_once_max=10),
            deliver=DeliverWebhook(
                database=database,
                ring=RING,
                poster=poster or GuardedPoster(client=client, timeout_seconds=timeout_seconds),
                settlements=settlements,
                schedule=Schedule(pauses=tuple(timedelta(seconds=pause) for pause in pauses)),
                bounds=Bounds(
                    per_endpoint=per_endpoint,
                    per_tenant=per_tenant,
                    failing_after=failing_after,
                    lease=timedelta(seconds=lease_seconds),
                ),
                clock=clock,
                dice=lambda: 0.0,
            ),
        )
        self.stack.push_async_callback(self._stop, rig)
        return rig

    def _client(self, allow_private: bool, timeout_seconds: float, resolve: Resolve | None) -> httpx.AsyncClient:
        timeouts = Timeouts(connect_seconds=timeout_seconds, read_seconds=timeout_seconds)
        return guarded_client(allow_private=allow_private, timeouts=timeouts, resolve=resolve)

    async def _stop(self, rig: Rig) -> None:
        for sending in rig.tasks:
            await sending.stop()
        await rig.settlements.stop()
        await rig.plans.stop()
