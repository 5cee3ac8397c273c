"""Reading the history of a number: what it has handed over to WhatsApp, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.messages.domain.history import HISTORY_MAX, RELAY_ONLY_NOTICE, TOO_LARGE_NOTICE, PageRequest, shown
from api.messages.domain.instants import Period
from api.messages.domain.scope import Scope
from api.messages.store import listing
from api.messages.usecases.opening import Opened, opened
from api.numbers.domain import Number
from api.numbers.store import find_number
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """`total` stops at 100,000."""

    messages: Sequence[Opened]
    total: int
    notice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHistory:
    """Confined to the number, and to the project of the key if it has one."""

    database: Database
    keys: KeyRing
    clock: Clock

    async def page(self, scope: Scope, number: Number | None, asked: Period, page: PageRequest) -> HistoryPage:
        """`number` is the key's own or default one; a tenant key names it in its scope."""
        async with self.database.transaction() as tx:
            if number is None and scope.number_id is not None:
                number = await find_number(tx, scope.number_id)
            if number is None:
                raise RefusedError(Refusal.NUMBER_NOT_FOUND)
            period = shown(number, asked, now=self.clock())
            if period is None:
                return HistoryPage(messages=[], total=0, notice=RELAY_ONLY_NOTICE)
            confined = _to_number(scope, number)
            total = await listing.count_history(tx, confined, period, limit=HISTORY_MAX)
            if page.offset >= total:
                return HistoryPage(messages=[], total=total)
            found, is_whole = await listing.list_history(tx, confined, period, offset=page.offset, limit=page.page_size)
        notice = None if is_whole else TOO_LARGE_NOTICE
        return HistoryPage(messages=opened(self.keys, found), total=total, notice=notice)


def _to_number(scope: Scope, number: Number) -> Scope:
    return Scope(
        tenant_id=scope.tenant_id,
        project_id=scope.project_id,
        number_id=number.number_id,
        environment=scope.environment,
    )
