"""The dispatcher's use cases standing on a real database, with time held still and the gateway played."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import text

from chassis.database import Database
from chassis.group_commit import GroupCommit
from contracts.commands import RequeueMessage
from contracts.facts import EchoObserved, MessageAccepted, NumberConfigured, NumberConnectionChanged
from contracts.ids import uuid7
from contracts.registry import decode
from contracts.statement import Statement
from contracts.values import (
    Category,
    ConnectionState,
    Environment,
    GatewayAccess,
    MessageContent,
    MessageRef,
    Pace,
    PacingPolicy,
)
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import Verdict
from dispatcher.tables import metadata, outbox
from dispatcher.usecases.bind_echoes import ObserveEchoes
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.leases import LeaseBook
from dispatcher.usecases.settle_attempts import SettleAttempts
from dispatcher.usecases.take_in import InsertJobs, LocateMessage, TakeIn
from dispatcher.usecases.watch_lanes import ConfigureLane, ObserveConnection

from .gateway import Gateway
from .loops import Loops, nobody
from .sealing import KEYS, hash_of, hash_of_text

RECIPIENT, TEXT = "5547991234567", "Olá, seu pedido saiu"
NO_GAP = Pace(min_ms=0, max_ms=0)
FAST = PacingPolicy(otp=NO_GAP, utility=NO_GAP, marketing=NO_GAP, max_in_flight=10)
PACED = PacingPolicy(max_in_flight=1)
NUMBER_ID = uuid4()

Said = TypeVar("Said", bound=Statement)


AT_ONCE = Rules(ahead=timedelta(0))
"""On a clock that stands still nothing is claimed before it leaves."""


@dataclass(slots=True)
class Now:
    """A clock that moves when told to."""

    value: datetime = field(default_factory=lambda: datetime(2026, 3, 2, 12, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.value

    def pass_(self, seconds: float) -> datetime:
        self.value += timedelta(seconds=seconds)
        return self.value


@dataclass(slots=True)
class Rig(Loops):
    """One replica, its loops run by hand."""

    url: str
    now: Now
    gateway: Gateway
    rules: Rules = AT_ONCE
    dice: float = 0.5
    database: Database = field(init=False)
    book: LeaseBook = field(init=False)
    settling: GroupCommit[Any, bool] = field(init=False)

    def __post_init__(self) -> None:
        self.database = Database(self.url, outbox=outbox, pool_size=8, name="test")
        self.book = LeaseBook(self.rules.lease)
        self.settling = GroupCommit(self.database, SettleAttempts(dice=self.roll, clock=self.now))

    def roll(self) -> float:
        return self.dice

    async def clear(self) -> None:
        names = ", ".join(str(table) for table in metadata.sorted_tables)
        async with self.database.transaction() as tx:
            await tx.execute(text(f"TRUNCATE {names}"))

    async def rows(self, query: str, **parameters: Any) -> Sequence[Any]:
        async with self.database.transaction() as tx:
            return (await tx.execute(text(query), parameters)).all()

    async def write(self, statement: str, **parameters: Any) -> None:
        async with self.database.transaction() as tx:
            await tx.execute(text(statement), parameters)

    async def said(self, kind: type[Said]) -> list[Said]:
        rows = await self.rows("SELECT type, body FROM dispatcher.outbox ORDER BY id")
        return [fact for row in rows if isinstance(fact := decode(row.type, bytes(row.body)), kind)]

    async def job(self, ref: MessageRef) -> Any:
        query = "SELECT * FROM dispatcher.jobs WHERE message_id = :id AND round = :round"
        [row] = await self.rows(query, id=ref.message_id, round=ref.round)
        return row

    async def lane(self, instance: str = "loja") -> Any:
        [row] = await self.rows("SELECT * FROM dispatcher.lanes WHERE instance = :i", i=instance)
        return row

    async def configure(
        self,
        instance: str = "loja",
        *,
        pacing: PacingPolicy = FAST,
        version: int = 1,
        paused: bool = False,
        platform_default: bool = False,
    ) -> None:
        access = GatewayAccess(base_url="http://gateway", api_key="key").model_dump_json().encode()
        fact = NumberConfigured(
            number_id=NUMBER_ID,
            instance=instance,
            pacing=pacing,
            paused=paused,
            platform_default=platform_default,
            sealed_access=KEYS.seal(access, aad=NUMBER_ID.bytes),
            version=version,
            configured_at=self.now(),
        )
        await ConfigureLane(database=self.database, wake=nobody, clock=self.now)(fact)

    async def open_lane(self, instance: str = "loja", *, pacing: PacingPolicy = FAST, **more: Any) -> None:
        await self.configure(instance, pacing=pacing, **more)
        await self.observe(instance, ConnectionState.OPEN, at=self.now() - timedelta(minutes=10))

    async def observe(self, instance: str, state: ConnectionState, *, at: datetime) -> None:
        fact = NumberConnectionChanged(instance=instance, state=state, observed_at=at)
        observe = ObserveConnection(database=self.database, wake=nobody, dice=self.roll, clock=self.now)
        await observe(fact)

    async def accept(self, *accepted: MessageAccepted, **options: Any) -> list[MessageRef]:
        facts = list(accepted) or [self.message(**options)]
        commits = GroupCommit(self.database, InsertJobs(clock=self.now))
        await TakeIn(commits=commits, wake=nobody, wake_promoting=nobody)(facts)
        return [fact.ref for fact in facts]

    def message(
        self,
        *,
        instance: str = "loja",
        category: Category = Category.UTILITY,
        to: str = RECIPIENT,
        said: str = TEXT,
        urgent: bool = False,
        due_in: float = 0,
        window: float = 3_600,
        message_id: UUID | None = None,
        tenant_id: UUID | None = None,
        weight: int = 1,
    ) -> MessageAccepted:
        ref = MessageRef(
            message_id=message_id or uuid7(),
            tenant_id=tenant_id or uuid4(),
            project_id=uuid4(),
            number_id=NUMBER_ID,
            instance=instance,
            environment=Environment.LIVE,
            category=category,
            correlation_id="order-1",
        )
        content = MessageContent(to=to, text=said).model_dump_json().encode()
        due = self.now() + timedelta(seconds=due_in)
        return MessageAccepted(
            ref=ref,
            deliver_by=due,
            deliver_until=due + timedelta(seconds=window),
            urgent=urgent,
            tenant_weight=weight,
            sealed=KEYS.seal(content, aad=ref.message_id.bytes),
            recipient_hash=hash_of(to),
            text_hash=hash_of_text(said),
            accepted_at=self.now(),
        )

    async def carry_out(self, attempt: Attempt, claimed_at: float | None = None) -> Verdict:
        carry = CarryOut(
            sender=self.gateway,
            keys=KEYS,
            book=self.book,
            rules=self.rules,
            settling=self.settling,
            dice=self.roll,
        )
        return await carry(attempt, self.book.monotonic() if claimed_at is None else claimed_at)

    async def dispatch(self, capacity: int = 50) -> list[Verdict]:
        claimed = await self.claim(capacity)
        return list(await asyncio.gather(*(self.carry_out(one, claimed.claimed_at) for one in claimed.attempts)))

    async def echo(self, key_id: str, *, to: str = RECIPIENT, said: str = TEXT, instance: str = "loja") -> None:
        fact = EchoObserved(
            instance=instance,
            key_id=key_id,
            recipient_hash=hash_of(to),
            text_hash=hash_of_text(said),
            observed_at=self.now(),
        )
        await GroupCommit(self.database, ObserveEchoes(clock=self.now)).submit(fact)

    async def requeue(self, accepted: MessageAccepted, *, possibly_sent: bool = False) -> None:
        locate = LocateMessage(database=self.database, rules=self.rules, wake=nobody, clock=self.now)
        await locate(RequeueMessage(ref=accepted.ref, accepted=accepted, possibly_sent=possibly_sent))
