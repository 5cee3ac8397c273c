"""Notices numbers whose gateway has fallen silent, from what is kept anyway: nothing is written per event for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from prometheus_client import Counter, Gauge

from chassis.database import Database
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from status_ingest.domain.silence import Passage, SilenceRules, Traffic, followed
from status_ingest.store import traffic

logger = get_logger(__name__)

LOOKED_BACK_AT_FIRST = timedelta(hours=1)
"""How far back the very first look goes."""

numbers_by_condition = Gauge(
    "pilot_status_ingest_numbers",
    "Numbers that handed something over lately, by whether their gateway was heard since; the log says which.",
    ["condition"],
    registry=registry,
)
longest_silence = Gauge(
    "pilot_status_ingest_longest_silence_seconds",
    "For how long the longest silent number has not been heard after a send; 0 if none is silent.",
    registry=registry,
)
last_event = Gauge(
    "pilot_status_ingest_last_event_timestamp_seconds",
    "When a gateway was last heard about any number that sends, Unix time.",
    registry=registry,
)
silences_total = Counter(
    "pilot_status_ingest_silences_total", "Times a number was noticed to be silent.", registry=registry
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSilence:
    """One replica looks at a time; every replica shows what was found."""

    database: Database
    rules: SilenceRules = field(default_factory=SilenceRules)

    async def step(self, now: datetime | None = None) -> bool:
        """Follow what passed since the last look. `now` is for tests, else the database's clock counts."""
        before, after = await self._look(now)
        _log(before, after)
        async with self.database.transaction() as tx:
            counts = await traffic.count_silent(tx, now=now)
        heard = counts.numbers - counts.waiting - counts.silent
        for condition, count in (("heard", heard), ("waiting", counts.waiting), ("silent", counts.silent)):
            numbers_by_condition.labels(condition=condition).set(count)
        longest_silence.set(counts.longest.total_seconds())
        if counts.last_heard_at is not None:
            last_event.set(counts.last_heard_at.timestamp())
        return False

    async def _look(self, now: datetime | None) -> tuple[dict[str, Traffic], list[Traffic]]:
        async with self.database.transaction() as tx:
            await traffic.add_watch(tx)
            turn = await traffic.take_turn(tx, now=now)
            if turn is None:
                return {}, []
            since = (turn.until or turn.now - LOOKED_BACK_AT_FIRST) - self.rules.slack
            passed = {one.instance: one for one in await traffic.passages(tx, since=since, slack=self.rules.slack)}
            known = await traffic.known_traffic(tx, passed.keys())
            after = [
                followed(known.get(name), passed.get(name, Passage(instance=name)), now=turn.now, rules=self.rules)
                for name in sorted(passed.keys() | known.keys())
            ]
            if after:
                await traffic.save_traffic(tx, after)
            await traffic.end_turn(tx, until=turn.now)
        return known, after


def _log(before: dict[str, Traffic], after: Sequence[Traffic]) -> None:
    for one in after:
        was_silent = one.instance in before and before[one.instance].silent_since is not None
        if one.silent_since is not None and not was_silent:
            silences_total.inc()
            logger.warning(
                "number_silent",
                instance=one.instance,
                unheard_since=one.unheard_since,
                usual_wait_seconds=round(one.usual_wait_seconds, 1),
            )
        elif was_silent and one.silent_since is None:
            logger.info("number_heard_again", instance=one.instance)
