"""Asks a gateway's own memory for traces of a message, and whether the number is connected."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from chassis.database import Database
from chassis.seal import KeyRing, Pepper, SealError
from chassis.telemetry.logs import get_logger
from contracts.matching import TEXT_PURPOSE, text_key
from contracts.values import ConnectionState, MessageContent
from dispatcher.domain.evidence import Trace, silence_counts
from dispatcher.domain.jobs import Suspect
from dispatcher.domain.rules import LOOKUP_SLACK
from dispatcher.store import lanes
from dispatcher.usecases.dispatch_due import open_access
from gateways.port import Access, Lookup, LookupFailedError

logger = get_logger(__name__)

STORED_MAX = 200
"""More messages to one recipient in the window leave the answer incomplete, and incomplete proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found. Without `looked_up` nothing may be concluded from an absence of traces."""

    looked_up: bool
    traces: Sequence[Trace] = ()
    state: ConnectionState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """Search the gateway's store for messages with a suspect's recipient and text."""

    database: Database
    lookup: Lookup
    keys: KeyRing
    pepper: Pepper

    async def __call__(self, suspect: Suspect, *, since: datetime, until: datetime) -> Findings:
        """Never raises for anything the gateway does."""
        async with self.database.transaction() as tx:
            sealed = await lanes.access(tx, suspect.ref.instance)
        if sealed is None:
            return Findings(looked_up=False)
        ref = suspect.ref
        try:
            access = open_access(self.keys, sealed, ref.instance)
            content = MessageContent.model_validate_json(self.keys.open(suspect.sealed, aad=ref.message_id.bytes))
            return await self._ask(access, content, suspect, since=since, until=until)
        except LookupFailedError:
            return Findings(looked_up=False)
        except (SealError, ValidationError) as error:
            logger.error("suspect_unreadable", error=error, message_id=ref.message_id)
            return Findings(looked_up=False)

    async def _ask(
        self, access: Access, content: MessageContent, suspect: Suspect, *, since: datetime, until: datetime
    ) -> Findings:
        stored = await self.lookup.sent_messages(
            access, recipient=content.to, since=since, until=until, limit=STORED_MAX
        )
        state = await self.lookup.connection_state(access)
        texts = [message.text for message in stored]
        traces = [
            Trace(key_id=message.key_id, seen_at=message.sent_at)
            for message in stored
            if message.text is not None and self._hash(message.text) == suspect.text_hash
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
