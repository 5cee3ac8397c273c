"""One number's life, told to the notifier by hand."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from contracts.facts import NumberConfigured, NumberConnectionChanged, NumberCreated
from contracts.facts.numbers import NumberTurn
from contracts.ids import uuid7
from contracts.values import ConnectionState, NumberProfile
from notifier.usecases.tell_of_numbers import TellOfNumbers

OPEN, CONNECTING, CLOSE = ConnectionState.OPEN, ConnectionState.CONNECTING, ConnectionState.CLOSE
START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
PATIENCE = timedelta(seconds=30)
PROFILE = NumberProfile(phone="5547991234567", display_name="Balcão")


@dataclass(slots=True)
class Story:
    """One number, told of by hand; the clock moves a second with each fact."""

    rig: Any
    number_id: UUID = field(default_factory=uuid7)
    instance: str = "acme"
    now: datetime = START

    def __post_init__(self) -> None:
        self.rig.number_id = self.number_id

    @property
    def tell(self) -> TellOfNumbers:
        return TellOfNumbers(
            database=self.rig.database, ring=self.rig.ring, confirm_after=PATIENCE, clock=lambda: self.now
        )

    def pass_(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def fact(self, kind: type[NumberTurn], version: int, **changes: Any) -> Any:
        fields: dict[str, Any] = {
            "number_id": self.number_id,
            "instance": self.instance,
            "tenant_id": self.rig.tenant_id,
            "sealed_profile": self.sealed(),
            "version": version,
            "at": self.pass_(1),
        }
        return kind(**{**fields, **changes})

    def sealed(self) -> str:
        sealed: str = self.rig.ring.seal(PROFILE.model_dump_json().encode(), aad=self.number_id.bytes)
        return sealed

    async def turn(self, kind: type[NumberTurn], version: int, **changes: Any) -> Any:
        fact = self.fact(kind, version, **changes)
        await self.tell.turn(fact)
        return fact

    async def learn(self, *, version: int) -> None:
        fact = NumberConfigured(
            number_id=self.number_id,
            instance=self.instance,
            tenant_id=self.rig.tenant_id,
            sealed_access="x",
            sealed_profile=self.sealed(),
            version=version,
            configured_at=self.now,
        )
        await self.tell.learn(fact)

    async def connected(self) -> None:
        await self.turn(NumberCreated, 1)
        await self.seen(OPEN)

    async def seen(self, state: ConnectionState, *, at: datetime | None = None) -> NumberConnectionChanged:
        fact = NumberConnectionChanged(instance=self.instance, state=state, observed_at=at or self.pass_(1))
        await self.tell.observe(fact)
        return fact

    async def events(self) -> list[str]:
        rows = await self.rig.rows(
            "SELECT event FROM notifier.deliveries WHERE message_id = :id ORDER BY version", id=self.number_id
        )
        return [row.event for row in rows]
