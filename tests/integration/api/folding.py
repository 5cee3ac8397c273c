"""One replica's folding without its broker: messages to fold into, reports as other services say them, and eyes."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from api.messages.domain.acceptance import NewMessage
from api.messages.domain.progress import Report, report_of
from api.messages.usecases.follow_progress import fold
from api.messages.usecases.store_accepted import store_accepted
from chassis.database import Database
from contracts.facts import MessageAccepted, MessageDispatched, MessageStatusChanged, ReceiptRecorded
from contracts.facts.messages import Proof
from contracts.ids import uuid7
from contracts.statement import Statement
from contracts.status import RANK, Status
from contracts.values import Category, Environment, MessageRef

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Folder:
    """One replica's folding, and eyes on what came of it."""

    database: Database

    async def accept(self, count: int) -> list[MessageRef]:
        """New messages."""
        messages = [new_message() for _ in range(count)]
        async with self.database.transaction() as tx:
            await store_accepted(tx, messages)
        return [message.ref for message in messages]

    async def fold(self, *reports: Report) -> None:
        async with self.database.transaction() as tx:
            await fold(tx, reports)

    async def messages(self) -> dict[Any, Any]:
        """Rows by message id."""
        async with self.database.transaction() as tx:
            return {row.id: row for row in (await tx.execute(text("SELECT * FROM api.messages"))).all()}

    async def told(self) -> dict[Any, list[MessageStatusChanged]]:
        """What was said of each message, in the order of versions."""
        async with self.database.transaction() as tx:
            bodies = await tx.execute(
                text("SELECT body FROM api.outbox WHERE type = :type"), {"type": MessageStatusChanged.TYPE}
            )
            facts = [MessageStatusChanged.model_validate_json(body) for body in bodies.scalars()]
        found: dict[Any, list[MessageStatusChanged]] = defaultdict(list)
        for fact in sorted(facts, key=lambda fact: fact.version):
            found[fact.ref.message_id].append(fact)
        return found


def new_message() -> NewMessage:
    ref = MessageRef(
        message_id=uuid7(),
        tenant_id=uuid7(),
        project_id=uuid7(),
        number_id=uuid7(),
        instance="loja",
        environment=Environment.LIVE,
        category=Category.OTP,
        correlation_id=str(uuid7()),
    )
    accepted = MessageAccepted(
        ref=ref,
        deliver_by=NOW,
        deliver_until=NOW + timedelta(hours=1),
        sealed="sealed",
        recipient_hash="0" * 64,
        text_hash="1" * 64,
        accepted_at=NOW,
    )
    return NewMessage(key_id=uuid7(), origin="Loja", source_number=None, template_name=None, accepted=accepted)


def report(ref: MessageRef, status: Status, *, round: int = 1) -> Report:
    """A statement that claims `status`, as another service says it."""
    ref, at = ref.model_copy(update={"round": round}), NOW + timedelta(seconds=RANK[status])
    statement: Statement
    match status:
        case Status.DISPATCHED:
            statement = MessageDispatched(ref=ref, attempt=1, key_id="K1", dispatched_at=at, proof=Proof.RESPONSE)
        case Status.SENT | Status.DELIVERED | Status.READ | Status.FAILED:
            statement = ReceiptRecorded(ref=ref, key_id="K1", status=status, occurred_at=at)
        case _:
            raise ValueError(status)
    found = report_of(statement, statement_id=uuid7(), said_at=at)
    assert found is not None
    return found
