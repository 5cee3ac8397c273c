"""Accepting a message: every check, then the row and its fact in one commit shared with other callers."""

from dataclasses import dataclass

from api.access.domain import Caller
from api.messages.domain.acceptance import NewMessage
from api.messages.domain.idempotency import Claim, checked_key, replay
from api.messages.domain.receipt import Receipt
from api.messages.domain.request import SendRequest
from api.messages.store import claiming
from api.messages.usecases.prepare_message import LookedUp, PrepareMessage
from api.refusals import RefusedError
from chassis.database import Database
from chassis.group_commit import GroupCommit


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptMessage:
    """After this returns, the platform owes the message a final status."""

    database: Database
    prepare: PrepareMessage
    commits: GroupCommit[NewMessage, Receipt]

    async def accept(
        self, request: SendRequest, caller: Caller, *, key: str | None = None, known: LookedUp | None = None
    ) -> Receipt:
        """The receipt, or the earlier one of the same idempotency key; raises `RefusedError` for the first failure."""
        claim = self.prepare.claim(request, caller, checked_key(key))
        try:
            known = known or await self.prepare.look_up([request.template], caller)
            message = self.prepare.prepare(request, caller, known, claim=claim)
        except RefusedError:
            remembered = await self._replayed(claim)
            if remembered is None:
                raise
            return remembered
        return await self.commits.submit(message)

    async def _replayed(self, claim: Claim | None) -> Receipt | None:
        """What was answered before the send became impossible: a number closed, a date gone by."""
        if claim is None:
            return None
        async with self.database.transaction() as tx:
            known = await claiming.find_remembered(tx, [claim.scope], now=self.prepare.clock())
        if claim.scope not in known:
            return None
        outcome = replay(known[claim.scope], fingerprint=claim.fingerprint)
        if isinstance(outcome, RefusedError):
            raise outcome
        return outcome
