"""Balances the books continuously: the latest hours with every step, and one older hour after the other in between."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client import Gauge

from api.refusals import RefusedError
from api.repair.domain import HOUR, Books, Wrong, hour_of
from api.repair.usecases.balance_books import HOURS_MAX, BalanceBooks
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry

logger = get_logger(__name__)

LATEST_HOURS = 2
NAMED_MAX = 20

wrong_messages = Gauge(
    "pilot_books_wrong_messages",
    "Messages about which the api's book and the ledger disagree, by what is wrong; all of the hours last looked at.",
    ["wrong"],
    registry=registry,
)
booked_messages = Gauge(
    "pilot_books_messages",
    "Messages of the latest hours, by book and by whether they are accepted, final or open.",
    ["book", "state"],
    registry=registry,
)
balanced_timestamp = Gauge(
    "pilot_books_compared_timestamp_seconds", "When the books were last compared.", registry=registry
)


@dataclass(slots=True, kw_only=True)
class WatchBooks:
    """The step of a loop. Every replica of the api balances for itself; the gauges of each tell the same."""

    balance: BalanceBooks
    clock: Callable[[], datetime]
    _wrong: dict[datetime, Counter[Wrong]] = field(default_factory=dict)
    _older: int = LATEST_HOURS

    async def step(self) -> bool:
        """Never raises for a silent reconciler: the time of the last comparison then stands still."""
        now = self.clock()
        latest, older = hour_of(now) - (LATEST_HOURS - 1) * HOUR, hour_of(now) - self._older * HOUR
        try:
            books = await self.balance.balance(latest, now)
            self._learn(books, [latest, latest + HOUR])
            self._learn(await self.balance.balance(older, older + HOUR), [older])
        except RefusedError:
            logger.warning("books_not_compared")
            return False
        self._older = self._older + 1 if self._older + 1 < HOURS_MAX else LATEST_HOURS
        self._tell(books, now)
        return False

    def _learn(self, books: Books, hours: list[datetime]) -> None:
        for hour in hours:
            self._wrong[hour] = Counter()
        for balance in books.balances:
            self._wrong.setdefault(balance.hour, Counter()).update(wrong.wrong for wrong in balance.wrongs)
            for one in balance.wrongs[:NAMED_MAX]:
                logger.error("books_disagree", message_id=one.message_id, reason=one.wrong.value)

    def _tell(self, books: Books, now: datetime) -> None:
        oldest = hour_of(now) - HOURS_MAX * HOUR
        self._wrong = {hour: wrong for hour, wrong in self._wrong.items() if hour >= oldest}
        total = sum(self._wrong.values(), Counter[Wrong]())
        for wrong in Wrong:
            wrong_messages.labels(wrong=wrong.value).set(total[wrong])
        for book in ("api", "ledger"):
            accounts = [account for balance in books.balances if (account := getattr(balance, book)) is not None]
            for state in ("accepted", "final", "open"):
                booked_messages.labels(book=book, state=state).set(sum(getattr(one, state) for one in accounts))
        balanced_timestamp.set(now.timestamp())
