"""Asks a gateway's own memory for traces of a message, and whether the number is connected."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import ValidationError

from chassis.database import Database
from chassis.seal import KeyRing, Pepper, SealError
from chassis.telemetry.logs import get_logger
from contracts.matching import TEXT_PURPOSE, text_key, text_keys
from contracts.values import ConnectionState, MessageContent
from dispatcher.domain.evidence import Trace, silence_counts
from dispatcher.domain.jobs import Suspect
from dispatcher.domain.rules import LOOKUP_SLACK
from dispatcher.store.manners import manner
from dispatcher.usecases.dispatch_due import open_access
from dispatcher.usecases.manners import Manners
from gateways.port import Access, Lookup, LookupFailedError
from gateways.reserved import reserved_id

logger = get_logger(__name__)

STORED_MAX = 200
"""More messages to one recipient in the window leave the answer incomplete, and incomplete proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found. Without `looked_up` nothing may be concluded from an absence of traces."""

    looked_up: bool
    traces: Sequence[Trace] = ()
    state: ConnectionState | None = None

    def beside(self, traces: Sequence[Trace]) -> "Findings":
        """With traces that were found otherwise."""
        known = {trace.key_id for trace in traces}
        return replace(self, traces=[*traces, *(trace for trace in self.traces if trace.key_id not in known)])


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """Search the gateway's store for messages with a suspect's recipient and text, or under its reserved id."""

    database: Database
    lookup: Lookup
    keys: KeyRing
    pepper: Pepper
    manners: Manners = field(default_factory=Manners)

    async def __call__(self, suspect: Suspect, *, since: datetime, until: datetime) -> Findings:
        """Never raises for anything the gateway does."""
        async with self.database.transaction() as tx:
            found = await manner(tx, suspect.ref.instance)
        if found is None:
            return Findings(looked_up=False)
        ref = suspect.ref
        try:
            access = open_access(self.keys, found[0], ref.instance)
            content = MessageContent.model_validate_json(self.keys.open(suspect.sealed, aad=ref.message_id.bytes))
            return await self._ask(access, content, suspect, since=since, until=until)
        except LookupFailedError:
            return Findings(looked_up=False)
        except (SealError, ValidationError) as error:
            logger.error("suspect_unreadable", error=error, message_id=ref.message_id)
            return Findings(looked_up=False)

    async def by_id(self, suspects: Sequence[Suspect]) -> Sequence[Trace]:
        """Traces of suspects of one number under their reserved ids: proof at once, though finding none is no proof."""
        instance = suspects[0].ref.instance
        async with self.database.transaction() as tx:
            found = await manner(tx, instance)
        if found is None:
            return ()
        try:
            access = open_access(self.keys, found[0], instance)
            if not await self.manners.reserves(access, found[1]):
                return ()
            stored = [await self.lookup.sent_message(access, key_id=reserved_id(*one.key)) for one in suspects]
        except (LookupFailedError, SealError, ValidationError):
            return ()
        return [Trace(key_id=message.key_id, seen_at=message.sent_at) for message in stored if message is not None]

    async def _ask(
        self, access: Access, content: MessageContent, suspect: Suspect, *, since: datetime, until: datetime
    ) -> Findings:
        stored = await self.lookup.sent_messages(
            access, recipient=content.to, since=since, until=until, limit=STORED_MAX
        )
        state = await self.lookup.connection_state(access)
        texts = [message.text for message in stored]
        alike = text_keys(content)
        traces = [
            Trace(key_id=message.key_id, seen_at=message.sent_at)
            for message in stored
            if message.text is not None
            and (text_key(message.text) in alike or self._hash(message.text) == suspect.text_hash)
        ]
        now = until - LOOKUP_SLACK
        return Findings(
            looked_up=len(stored) < STORED_MAX
            and silence_counts(content, stored=texts, started_at=suspect.started_at, now=now),
            traces=traces,
            state=None if state is None else ConnectionState(state.value),
        )

    def _hash(self, text: str) -> str:
        return self.pepper.hash(text_key(text), purpose=TEXT_PURPOSE)
