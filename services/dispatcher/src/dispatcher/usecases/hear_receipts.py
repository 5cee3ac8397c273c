"""Receipts are heard: they prove what was uncertain, acknowledge what left, and tell of numbers that are restricted."""

from collections.abc import Sequence
from dataclasses import dataclass

from chassis.database import Transaction
from contracts.facts import ReceiptRecorded
from contracts.facts.messages import Proof
from contracts.status import Status
from dispatcher.domain.evidence import Confirmed
from dispatcher.domain.health import Alert, HealthRules, believed, refuses_first_contacts
from dispatcher.domain.jobs import JobKey
from dispatcher.store import health, receipts, suspects
from dispatcher.store.receipts import Reported
from dispatcher.usecases.announce import raise_alert
from dispatcher.usecases.bind_echoes import write_conclusions
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import RECEIPTS


@dataclass(frozen=True, slots=True, kw_only=True)
class HearReceipts:
    """The `write` of the receipts' group commit: jobs are locked first, then contacts, then lanes."""

    rules: HealthRules
    clock: Clock = None

    async def __call__(self, tx: Transaction, facts: Sequence[ReceiptRecorded]) -> Sequence[None]:
        """Repeats and disorder change nothing; nothing is ever sent again because of a receipt."""
        heard = believed(facts)
        reported = await receipts.mark(tx, list(heard.values()), now=given(self.clock))
        await self._prove(tx, reported, {key: fact.key_id for key, fact in heard.items()})
        refused = [one for one in reported if one.receipt is Status.FAILED]
        if refused:
            await receipts.forget_refused(tx, refused)
            await self._judge_first_contacts(tx, [one for one in refused if one.cold])
        for one in reported:
            RECEIPTS.labels(status=one.receipt.value).inc()
        return [None] * len(facts)

    async def _prove(self, tx: Transaction, reported: Sequence[Reported], key_ids: dict[JobKey, str]) -> None:
        """Even a failure is reported only of what was handed over."""
        doubted = [one.key for one in reported if one.is_suspect]
        if not doubted:
            return
        open_now = await suspects.lock_these(tx, doubted)
        proofs = [(one, Confirmed(key_id=key_ids[one.key], proof=Proof.RECEIPT)) for one in open_now]
        await write_conclusions(tx, proofs, clock=self.clock)

    async def _judge_first_contacts(self, tx: Transaction, refused: Sequence[Reported]) -> None:
        latest = {one.instance: one.receipt_at for one in sorted(refused, key=lambda one: one.receipt_at)}
        if not latest:
            return
        since = {instance: at - self.rules.failures_within for instance, at in latest.items()}
        found = await health.first_contacts(tx, since, looked_back=self.rules.failures_within)
        until = {
            one.instance: latest[one.instance] + self.rules.cold_hold
            for one in found
            if refuses_first_contacts(one, self.rules)
        }
        if until:
            for instance in await health.restrict(tx, until, now=given(self.clock)):
                raise_alert(Alert.FIRST_CONTACTS_REFUSED, instance)
