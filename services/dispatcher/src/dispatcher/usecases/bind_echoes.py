"""Joins what numbers were seen sending with the attempts whose outcome nobody knows."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import assert_never

from chassis.database import Transaction
from contracts.facts import EchoObserved
from contracts.facts.messages import Proof
from dispatcher.domain.evidence import Conclusion, Confirmed, GivenUp, Resend, Wait, pair
from dispatcher.domain.facts import fact_of_conclusion
from dispatcher.domain.jobs import JobKey, Suspect
from dispatcher.domain.rules import ECHO_SLACK
from dispatcher.store import echoes, suspects
from dispatcher.store.echoes import Content
from dispatcher.store.instant import instant
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import RESOLVED


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveEchoes:
    """The `write` of the echoes' group commit: keep them, and confirm at once whatever waits for them."""

    clock: Clock = None

    async def __call__(self, tx: Transaction, facts: Sequence[EchoObserved]) -> Sequence[None]:
        """Repeats and disorder change nothing."""
        await echoes.insert(tx, facts)
        contents = {
            (fact.instance, fact.recipient_hash, fact.text_hash)
            for fact in facts
            if fact.recipient_hash is not None and fact.text_hash is not None
        }
        if contents:
            await bind_echoes(tx, contents, clock=self.clock)
        return [None] * len(facts)


async def bind_echoes(tx: Transaction, contents: Collection[Content], *, clock: Clock) -> Sequence[Suspect]:
    """Confirm suspects of these contents by echoes that belong to nobody; those that stay open, locked."""
    alike = await suspects.lock_alike(tx, contents)
    if not alike:
        return []
    traces = await echoes.unbound(tx, {suspect.content for suspect in alike})
    confirmed = [
        (suspect, Confirmed(key_id=trace.key_id, proof=Proof.ECHO))
        for content, group in by_content(alike).items()
        for suspect, trace in pair(group, traces.get(content, []), slack=ECHO_SLACK)
    ]
    moved = await write_conclusions(tx, confirmed, clock=clock)
    return [suspect for suspect in alike if suspect.key not in moved]


async def write_conclusions(
    tx: Transaction, conclusions: Sequence[tuple[Suspect, Conclusion]], *, clock: Clock
) -> set[JobKey]:
    """Write conclusions and say what they mean; the jobs that were still as they were thought to be."""
    if not conclusions:
        return set()
    now = await instant(tx, given(clock))
    moved = await suspects.conclude(tx, conclusions, now=now)
    for suspect, conclusion in conclusions:
        fact = fact_of_conclusion(suspect, conclusion, now=now) if suspect.key in moved else None
        if fact is not None:
            tx.emit(fact)
            RESOLVED.labels(by=_label(conclusion)).inc()
    return moved


def by_content(group: Sequence[Suspect]) -> dict[Content, list[Suspect]]:
    """Suspects that say the same to the same person over the same number, together."""
    contents: dict[Content, list[Suspect]] = defaultdict(list)
    for suspect in group:
        contents[suspect.content].append(suspect)
    return contents


def _label(conclusion: Conclusion) -> str:
    match conclusion:
        case Confirmed():
            return conclusion.proof.value
        case Resend():
            return "policy_resend" if conclusion.duplicate_possible else "absence"
        case GivenUp():
            return "given_up"
        case Wait():
            return "open"
        case _:
            assert_never(conclusion)
