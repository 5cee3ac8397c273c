"""What is written about deliveries: what is owed, how attempts ended, and what that says of an endpoint."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from uuid import UUID

from contracts.delivery_questions import DeliveryState
from contracts.facts import EndpointDisabled
from notifier.domain.delivery import Claimed, Verdict
from notifier.domain.problems import Problem
from notifier.domain.subjects import Ref

UNIX_MS_BITS = 80
"""A UUIDv7 begins with 48 bits of Unix milliseconds; this many bits follow (RFC 9562 §5.7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One delivery that is owed to one endpoint. `follows`: the version before it is owed too, if it was heard of."""

    delivery_id: UUID
    endpoint_id: UUID
    ref: Ref
    version: int
    event: str
    changed_at: datetime
    sealed_body: str = field(repr=False)
    follows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The end of one attempt."""

    claimed: Claimed
    verdict: Verdict
    started_at: datetime
    ended_at: datetime
    sealed_response: str | None = field(default=None, repr=False)

    @property
    def duration_ms(self) -> int:
        """How long the call took."""
        return max(round((self.ended_at - self.started_at).total_seconds() * 1_000), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOutcome:
    """What a batch of attempts says of one endpoint: one success forgives every failure."""

    endpoint_id: UUID
    calls: int
    failed: int
    succeeded: bool
    disable: Problem | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedOff:
    """An endpoint that its own answers switched off just now."""

    endpoint_id: UUID
    tenant_id: UUID
    number_id: UUID
    reason: str
    failing_since: datetime | None
    at: datetime

    def fact(self) -> EndpointDisabled:
        """What the other services are told."""
        return EndpointDisabled(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What waits to be sent; retries that are not due yet wait too."""

    pending: int
    oldest_due_at: datetime | None


def outcomes_of(settlements: Iterable[Settlement]) -> Sequence[EndpointOutcome]:
    """One outcome per endpoint, ordered by endpoint."""
    by_endpoint: dict[UUID, list[Settlement]] = {}
    for settlement in settlements:
        by_endpoint.setdefault(settlement.claimed.endpoint_id, []).append(settlement)
    return [_outcome(endpoint_id, by_endpoint[endpoint_id]) for endpoint_id in sorted(by_endpoint)]


def oldest_id(moment: datetime) -> UUID:
    """Below every UUIDv7 made at or after `moment`."""
    return UUID(int=max(int(moment.timestamp() * 1_000), 0) << UNIX_MS_BITS)


def _outcome(endpoint_id: UUID, settlements: Sequence[Settlement]) -> EndpointOutcome:
    failed = sum(settlement.verdict.state is not DeliveryState.DELIVERED for settlement in settlements)
    return EndpointOutcome(
        endpoint_id=endpoint_id,
        calls=len(settlements),
        failed=failed,
        succeeded=failed < len(settlements),
        disable=next((item.verdict.disable for item in settlements if item.verdict.disable), None),
        at=max(settlement.ended_at for settlement in settlements),
    )
