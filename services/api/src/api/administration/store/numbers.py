"""Statements on how numbers are configured; each counts the version up, so that the newest configuration is known."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from api.administration.domain import Page
from api.administration.store.paging import paged
from api.numbers.domain import Number
from api.numbers.store import number_of
from api.numbers.tables import NUMBERS
from chassis.database import Transaction
from contracts.values import PacingPolicy


async def list_numbers(tx: Transaction, page: Page, *, tenant_id: UUID | None) -> Sequence[Number]:
    """Newest first."""
    query = paged(select(NUMBERS), NUMBERS.c.id, page, wanted={NUMBERS.c.tenant_id: tenant_id})
    return [number_of(row) for row in (await tx.execute(query)).mappings()]


async def pace(tx: Transaction, number_id: UUID, pacing: PacingPolicy) -> Number | None:
    """Another pacing policy; None if there is no such number."""
    return await _configure(tx, NUMBERS.c.id == number_id, pacing=pacing.model_dump(mode="json"))


async def pause(tx: Transaction, number_id: UUID, *, paused: bool) -> Number | None:
    """Nothing is sent from a paused number; None if there is no such number."""
    return await _configure(tx, NUMBERS.c.id == number_id, paused=paused)


async def lose_default(tx: Transaction) -> Number | None:
    """The number that was the platform's default until now; None if there was none."""
    return await _configure(tx, NUMBERS.c.platform_default, platform_default=False)


async def become_default(tx: Transaction, number_id: UUID) -> Number | None:
    """The platform's default from now on; None if there is no such number."""
    return await _configure(tx, NUMBERS.c.id == number_id, platform_default=True)


async def _configure(tx: Transaction, condition: Any, **values: Any) -> Number | None:
    statement = update(NUMBERS).where(condition).values(version=NUMBERS.c.version + 1, **values).returning(NUMBERS)
    row = (await tx.execute(statement)).mappings().first()
    return number_of(row) if row else None
