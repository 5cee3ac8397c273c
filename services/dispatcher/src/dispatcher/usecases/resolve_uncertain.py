"""Finds out what became of attempts whose answer never came: by echo, by the gateway's memory, at last by policy."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from chassis.database import Database, Transaction
from contracts.facts.messages import Proof
from dispatcher.domain.evidence import Absence, Conclusion, Confirmed, Resend, Trace, Wait, conclude, pair
from dispatcher.domain.jobs import Suspect
from dispatcher.domain.rules import LOOKUP_SLACK, Rules
from dispatcher.store import echoes, suspects
from dispatcher.usecases.bind_echoes import bind_echoes, by_content, write_conclusions
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.look_up import Findings, LookUp

BATCH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveUncertain:
    """Look at uncertain jobs that are due for it. A second send follows only from evidence, or flagged from policy.

    A taken job is left alone by others only for the interval between two looks: looking twice is harmless, while
    waiting for a process that was killed in the middle of it would use up the time there is.
    """

    database: Database
    look_up: LookUp
    rules: Rules
    wake: Callable[[], None]
    dice: Callable[[], float]
    clock: Clock = None

    async def __call__(self) -> int:
        """How many were looked at, at most one batch; nothing is locked while the gateway is asked."""
        async with self.database.transaction() as tx:
            due, now = await suspects.take_due(tx, limit=BATCH, busy=self.rules.recheck, now=given(self.clock))
        if now is None:
            return 0
        async with self.database.transaction() as tx:
            alike = await bind_echoes(tx, {suspect.content for suspect in due}, clock=self.clock)
        siblings = by_content(alike)
        groups = [(group, siblings.get(content, group)) for content, group in by_content(due).items()]
        await asyncio.gather(*(self._resolve(group, alike, now) for group, alike in groups))
        return len(due)

    async def _resolve(self, due: Sequence[Suspect], alike: Sequence[Suspect], now: datetime) -> None:
        """One content: `due` are to be concluded, `alike` are all that compete for the same traces."""
        findings = Findings(looked_up=False, traces=await self.look_up.by_id(due))
        if len(findings.traces) < len(due) and any(now >= suspect.resolve_after for suspect in due):
            since = min(suspect.since for suspect in alike)
            alike_sent = await self.look_up(due[0], since=since - LOOKUP_SLACK, until=now + LOOKUP_SLACK)
            findings = alike_sent.beside(findings.traces)
        async with self.database.transaction() as tx:
            resent = await self._conclude(tx, due, findings, now)
        if resent:
            self.wake()

    async def _conclude(self, tx: Transaction, due: Sequence[Suspect], findings: Findings, now: datetime) -> bool:
        open_now = await bind_echoes(tx, {due[0].content}, clock=self.clock)
        traces = await _unbound(tx, due[0].ref.instance, findings.traces)
        confirmed: list[tuple[Suspect, Conclusion]] = [
            (suspect, Confirmed(key_id=trace.key_id, proof=Proof.LOOKUP))
            for suspect, trace in pair(open_now, traces, slack=LOOKUP_SLACK)
        ]
        absence = Absence(
            looked_up=findings.looked_up,
            state=findings.state,
            echoed_at=await echoes.last_observed_at(tx, due[0].ref.instance),
        )
        found = {suspect.key for suspect, _ in confirmed}
        lockable = {suspect.key for suspect in open_now}
        rest = [
            (one, self._without_trace(one, absence, now, one.key in lockable)) for one in due if one.key not in found
        ]
        await write_conclusions(tx, [*confirmed, *rest], clock=self.clock)
        return any(isinstance(conclusion, Resend) for _, conclusion in rest)

    def _without_trace(self, suspect: Suspect, absence: Absence, now: datetime, is_lockable: bool) -> Conclusion:
        """While another job of the same content is being sent, its traces could be taken for this one's: wait."""
        if not is_lockable:
            return Wait(until=now + self.rules.recheck, failures=suspect.check_failures)
        return conclude(suspect, absence, now=now, rules=self.rules, dice=self.dice())


async def _unbound(tx: Transaction, instance: str, traces: Sequence[Trace]) -> Sequence[Trace]:
    if not traces:
        return []
    bound = await echoes.bound_keys(tx, instance, [trace.key_id for trace in traces])
    return [trace for trace in traces if trace.key_id not in bound]
