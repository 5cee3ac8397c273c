"""What a client asks of its list of messages."""

import json
from dataclasses import asdict, dataclass, field
from uuid import UUID

from api.messages.domain.instants import Period
from api.messages.domain.scope import Scope
from contracts.status import Status
from contracts.values import Category, Environment

PAGE_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """All of them must hold; None does not filter. `recipient_hash` stands for the destination."""

    statuses: frozenset[Status] = frozenset()
    category: Category | None = None
    environment: Environment | None = None
    accepted: Period = field(default_factory=Period)
    recipient_hash: str | None = None
    label: str | None = None
    template: str | None = None
    number_id: UUID | None = None


def listing_key(filters: Filters, scope: Scope) -> str:
    """One text per listing, to which its cursors are tied."""
    filtered = {**asdict(filters), "statuses": sorted(filters.statuses)}
    return json.dumps([filtered, asdict(scope)], default=str, sort_keys=True)
