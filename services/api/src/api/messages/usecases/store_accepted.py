"""Stores admitted messages, many in one commit: keys claimed, consent asked, limits counted, rows and facts written."""

from collections.abc import Mapping, Sequence

from api.limits import store as limits
from api.limits.domain import grant, limit_exceeded
from api.messages.domain.acceptance import NewMessage, receipt_of
from api.messages.domain.idempotency import Claim, Remembered, Scope, replay
from api.messages.domain.receipt import Receipt
from api.messages.store import accepting, claiming
from api.optins.store import authorized_among
from api.refusals import Refusal, RefusedError
from chassis.database import Transaction

Outcome = Receipt | RefusedError


async def store_accepted(tx: Transaction, messages: Sequence[NewMessage]) -> Sequence[Outcome]:
    """One outcome per message, in order. A constant number of statements, whatever the number of messages.

    Rows are locked in one order everywhere: keys, then counters, each of them sorted.
    """
    batch = _Batch(messages)
    await batch.claim(tx)
    await batch.ask_for_consent(tx)
    await batch.count(tx)
    await batch.write(tx)
    return batch.outcomes()


class _Batch:
    def __init__(self, messages: Sequence[NewMessage]) -> None:
        self._messages = messages
        self._refused: dict[int, RefusedError] = {}
        self._replayed: dict[int, Outcome] = {}
        self._remembered: dict[Scope, Remembered] = {}
        self._leaders: dict[Scope, int] = {}
        self._followers: list[tuple[int, Claim]] = []
        for index, message in enumerate(messages):
            if message.claim is not None and self._leaders.setdefault(message.claim.scope, index) != index:
                self._followers.append((index, message.claim))

    def _open(self) -> list[tuple[int, NewMessage]]:
        settled = self._refused.keys() | self._replayed.keys() | {index for index, _ in self._followers}
        return [(index, message) for index, message in enumerate(self._messages) if index not in settled]

    async def claim(self, tx: Transaction) -> None:
        """Of several requests with one key the first claims it; a key that is taken is answered for by its holder."""
        leading = [(message.claim, index, message) for index, message in self._open() if message.claim is not None]
        if not leading:
            return
        claims = [(claim, receipt_of(message)) for claim, _, message in leading]
        claimed = await claiming.claim_keys(tx, claims)
        late = [(claim, index) for claim, index, message in leading if message.ref.message_id not in claimed]
        if not late:
            return
        now = max(receipt.accepted_at for _, receipt in claims)
        self._remembered = await claiming.find_remembered(tx, [claim.scope for claim, _ in late], now=now)
        for claim, index in late:
            self._replayed[index] = replay(self._remembered.get(claim.scope), fingerprint=claim.fingerprint)

    async def ask_for_consent(self, tx: Transaction) -> None:
        """Refuse what needs a recipient's consent and has none."""
        asked = {
            index: (message.ref.project_id, message.accepted.recipient_hash)
            for index, message in self._open()
            if message.opt_in_needed
        }
        if not asked:
            return
        authorized = await authorized_among(tx, asked.values())
        for index, pair in asked.items():
            if pair not in authorized:
                extras = {"reason": "NO_OPTIN"}
                self._refused[index] = RefusedError(Refusal.OPT_IN_REQUIRED, field="destinationNumber", extras=extras)

    async def count(self, tx: Transaction) -> None:
        """Count what has a limit, and refuse what does not fit."""
        limited = [(index, message) for index, message in self._open() if message.charges]
        if not limited:
            return
        used = await limits.lock_counters(tx, {charge.key for _, message in limited for charge in message.charges})
        granted = grant([message.charges for _, message in limited], used)
        for (index, message), exceeded in zip(limited, granted.exceeded, strict=True):
            if exceeded is not None:
                self._refused[index] = limit_exceeded(exceeded, now=message.accepted.accepted_at)
        await limits.add_usage(tx, granted.added)

    async def write(self, tx: Transaction) -> None:
        """Rows and facts of what is left; the keys of what was refused are free again."""
        refused = [self._messages[index].claim for index in self._refused]
        await claiming.release_keys(tx, [claim.scope for claim in refused if claim is not None])
        accepted = [message for _, message in self._open()]
        if accepted:
            accepting.insert_messages(tx, accepted)
            tx.emit(*(message.accepted for message in accepted))

    def outcomes(self) -> list[Outcome]:
        """What each caller is told."""
        known: dict[int, Outcome] = {**self._refused, **self._replayed}
        for index, message in self._open():
            known[index] = receipt_of(message)
        for index, claim in self._followers:
            known[index] = self._follow(claim, known)
        return [known[index] for index in range(len(self._messages))]

    def _follow(self, claim: Claim, known: Mapping[int, Outcome]) -> Outcome:
        leader = self._leaders[claim.scope]
        if leader in self._replayed:
            return replay(self._remembered.get(claim.scope), fingerprint=claim.fingerprint)
        outcome = known[leader]
        leading = self._messages[leader].claim
        if isinstance(outcome, Receipt) and leading is not None:
            return replay(
                Remembered(fingerprint=leading.fingerprint, receipt=outcome.again()), fingerprint=claim.fingerprint
            )
        return outcome if leading == claim else replay(None, fingerprint=claim.fingerprint)
