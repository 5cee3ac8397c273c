"""Following a message: facts are folded into its public status; each transition is told once, in the same commit."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.limits.store import add_usage
from api.messages.domain.progress import Report, Transition, waves
from api.messages.domain.refunds import settle
from api.messages.store import folding
from api.messages.store.settling import mark_returned
from chassis.database import Transaction
from chassis.group_commit import GroupCommit
from contracts.facts import MessageStatusChanged


async def fold(tx: Transaction, reports: Sequence[Report]) -> Sequence[None]:
    """Steps, statuses and `message.status_changed` of a batch; a report recorded before has no effect."""
    fresh = await folding.insert_steps(tx, reports)
    unseen = {report.statement_id: report for report in reports if report.statement_id in fresh}
    transitions: list[Transition] = []
    for wave in waves(list(unseen.values())):
        transitions += await folding.advance(tx, wave)
        await folding.complete_dispatch(tx, wave)
    tx.emit(*(told(transition) for transition in transitions))
    settlement = settle(transitions)
    await mark_returned(tx, settlement.returned)
    await add_usage(tx, settlement.amounts)
    return [None] * len(reports)


def told(transition: Transition) -> MessageStatusChanged:
    """What everybody hears of a status that moved."""
    return MessageStatusChanged(
        ref=transition.ref,
        previous=transition.previous,
        status=transition.status,
        changed_at=transition.changed_at,
        version=transition.version,
        error_code=transition.error_code,
        key_id=transition.external_id,
        accepted_at=transition.accepted_at,
        sealed=transition.sealed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowProgress:
    """The only writer of public statuses, but for the first one of a round that an operator opens."""

    commits: GroupCommit[Report, None]

    async def follow(self, report: Report) -> None:
        """Returns after the commit that holds the report."""
        await self.commits.submit(report)
