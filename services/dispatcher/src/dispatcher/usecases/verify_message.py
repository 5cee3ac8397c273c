"""Answers whoever asks for proof of a message: where its job is, and what the gateway's own store says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from pydantic import ValidationError

from chassis.database import Database
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from contracts.commands import VerifyMessage
from contracts.facts import MessageDispatched, ReceiptRecorded
from contracts.facts.fact import MessageFact
from contracts.facts.messages import Proof
from contracts.facts.receipts import ReceiptSource
from contracts.status import Status
from dispatcher.domain.jobs import JobState
from dispatcher.domain.whereabouts import Whereabouts, fact_of_whereabouts
from dispatcher.store import whereabouts
from dispatcher.store.instant import instant
from dispatcher.store.manners import manner
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.dispatch_due import open_access
from gateways.port import Lookup, LookupFailedError, ReceiptStatus, StoredMessage

logger = get_logger(__name__)

_ORDER: Final = (ReceiptStatus.SENT, ReceiptStatus.FAILED, ReceiptStatus.DELIVERED, ReceiptStatus.READ)
"""Each is believed more than those before it."""
_STATUS: Final[Mapping[ReceiptStatus, Literal[Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED]]] = {
    ReceiptStatus.SENT: Status.SENT,
    ReceiptStatus.FAILED: Status.FAILED,
    ReceiptStatus.DELIVERED: Status.DELIVERED,
    ReceiptStatus.READ: Status.READ,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveMessage:
    """Never sends: a known WhatsApp id is proof that the message left, whether or not its gateway still knows it."""

    database: Database
    lookup: Lookup
    keys: KeyRing
    clock: Clock = None

    async def __call__(self, command: VerifyMessage) -> None:
        """The gateway is asked between two transactions; if it does not answer, the job's own fact is the answer."""
        async with self.database.transaction() as tx:
            job = await whereabouts.locate(tx, command.ref, now=given(self.clock))
        key_id = (job.key_id if job is not None else None) or command.key_id
        stored = await self._stored(command.ref.instance, key_id) if key_id else None
        async with self.database.transaction() as tx:
            tx.emit(*_answer(command, job, key_id, stored, now=await instant(tx, given(self.clock))))

    async def _stored(self, instance: str, key_id: str) -> StoredMessage | None:
        async with self.database.transaction() as tx:
            found = await manner(tx, instance)
        if found is None:
            return None
        try:
            return await self.lookup.sent_message(open_access(self.keys, found[0], instance), key_id=key_id)
        except (LookupFailedError, SealError, ValidationError) as error:
            logger.warning("proof_not_found", error=error, instance=instance)
            return None


def _answer(
    command: VerifyMessage, job: Whereabouts | None, key_id: str | None, stored: StoredMessage | None, *, now: datetime
) -> Sequence[MessageFact]:
    facts: list[MessageFact] = []
    if job is not None and job.state in (JobState.DISPATCHED, JobState.FAILED, JobState.CANCELED):
        facts.append(fact_of_whereabouts(job))
    elif stored is not None:
        facts.append(
            MessageDispatched(
                ref=command.ref, attempt=1, key_id=stored.key_id, dispatched_at=stored.sent_at, proof=Proof.LOOKUP
            )
        )
    best = max(stored.statuses, key=_ORDER.index, default=None) if stored is not None else None
    if best is not None and key_id is not None:
        facts.append(
            ReceiptRecorded(
                ref=command.ref,
                key_id=key_id,
                status=_STATUS[best],
                occurred_at=now,
                source=ReceiptSource.POLL,
            )
        )
    return facts
