"""Bodies of dead letters and of the books."""

from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from api.repair.domain import SENTENCES, Balance, Books
from api.repair.usecases.manage_letters import Settled
from api.schemas import Body, PlainLine, instant
from contracts.repair_questions import (
    LETTERS_MAX,
    Account,
    DeadLetter,
    DeadLetterExplained,
    LedgerDescribed,
    RepeatedMessage,
)

REPLAYED_MAX = 1_000
KEPT_SHOWN_MAX = 100
ACCOUNTS_SHOWN_MAX = 200
WRONGS_SHOWN_MAX = 100

Reason = Annotated[PlainLine, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Word = Annotated[PlainLine, StringConstraints(min_length=1, max_length=255)]


class ReplayLettersBody(Body):
    """Which letters: `ids`, or all waiting ones of a kind, named by at least one of `queue`, `reason` and `type`."""

    ids: list[UUID] | None = Field(default=None, min_length=1, max_length=LETTERS_MAX)
    queue: Word | None = None
    reason: Word | None = None
    type: Word | None = None
    limit: int = Field(default=LETTERS_MAX, ge=1, le=REPLAYED_MAX)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        names_kind = any((self.queue, self.reason, self.type))
        if (self.ids is None) != names_kind:
            raise ValueError("give either ids, or at least one of queue, reason and type")
        return self


class DiscardBody(Body):
    """Why a letter is put aside for good."""

    reason: Reason


class DiscardManyBody(DiscardBody):
    """Which letters are put aside, and why."""

    ids: list[UUID] = Field(min_length=1, max_length=LETTERS_MAX)


def letter_body(letter: DeadLetter) -> dict[str, Any]:
    """A letter without its content."""
    return {
        "id": str(letter.letter_id),
        "state": letter.state.value,
        "queue": letter.queue,
        "reason": letter.reason,
        "cause": letter.cause,
        "error": letter.error,
        "count": letter.count,
        "type": letter.type,
        "messageId": str(letter.message_id) if letter.message_id else None,
        "statementId": str(letter.statement_id) if letter.statement_id else None,
        "sizeBytes": letter.size_bytes,
        "firstDiedAt": instant(letter.first_died_at),
        "lastDiedAt": instant(letter.last_died_at),
        "filedAt": instant(letter.filed_at),
        "replays": letter.replays,
        "settledAt": instant(letter.settled_at),
        "note": letter.note,
    }


def explained_body(explained: DeadLetterExplained) -> dict[str, Any]:
    """A letter in sentences."""
    return {
        **letter_body(explained.letter),
        "explanation": {"what": explained.what, "why": explained.why, "replay": explained.replay},
        "replayable": explained.replayable,
        "headers": dict(explained.headers),
    }


def settled_body(done: Settled, *, outcome: str) -> dict[str, Any]:
    """How many letters there were of each; of those that stay, some with the reason."""
    return {
        outcome: len(done.settled),
        "kept": len(done.kept),
        "more": done.is_more,
        "ids": [str(letter_id) for letter_id in done.settled],
        "keptLetters": [
            {"id": str(kept.letter_id), "reason": kept.code, "sentence": kept.sentence}
            for kept in done.kept[:KEPT_SHOWN_MAX]
        ],
    }


def books_body(books: Books, ledger: LedgerDescribed) -> dict[str, Any]:
    """Both books, accounts that do not balance first, and what the reconciler watches."""
    ordered = sorted(books.balances, key=lambda one: (not one.wrongs, one.is_whole, one.hour, one.tenant_id))
    return {
        "since": instant(books.since),
        "until": instant(books.until),
        "balanced": books.is_balanced,
        "complete": books.is_complete and all(balance.is_whole for balance in books.balances),
        "api": _total(books, "api"),
        "ledger": _total(books, "ledger"),
        "accounts": [_balance(balance) for balance in ordered[:ACCOUNTS_SHOWN_MAX]],
        "accountsTotal": len(ordered),
        "watched": {
            "openByEvidence": dict(ledger.open),
            "overdue": ledger.overdue,
            "repeated": [_repeated(message) for message in ledger.repeated],
            "verdictsLastDay": dict(ledger.lost_last_day),
            "deadLettersWaiting": ledger.dead_letters_waiting,
        },
    }


def _total(books: Books, book: str) -> dict[str, int]:
    accounts = [account for balance in books.balances if (account := getattr(balance, book)) is not None]
    return {name: sum(getattr(one, name) for one in accounts) for name in ("accepted", "final", "open")}


def _balance(balance: Balance) -> dict[str, Any]:
    return {
        "tenantId": str(balance.tenant_id),
        "hour": instant(balance.hour),
        "balanced": not balance.wrongs and balance.is_whole,
        "api": _account(balance.api),
        "ledger": _account(balance.ledger),
        "wrongTotal": len(balance.wrongs),
        "wrong": [
            {"messageId": str(one.message_id), "reason": one.wrong.value, "sentence": SENTENCES[one.wrong]}
            for one in balance.wrongs[:WRONGS_SHOWN_MAX]
        ],
    }


def _account(account: Account | None) -> dict[str, int]:
    if account is None:
        return {"accepted": 0, "final": 0, "open": 0}
    return {"accepted": account.accepted, "final": account.final, "open": account.open}


def _repeated(message: RepeatedMessage) -> dict[str, Any]:
    return {
        "messageId": str(message.message_id),
        "tenantId": str(message.tenant_id),
        "instance": message.instance,
        "evidence": message.evidence,
        "status": message.status.value if message.status else None,
        "requeues": message.requeues,
        "verifies": message.verifies,
        "askedAt": instant(message.asked_at),
    }
