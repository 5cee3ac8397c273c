"""What the api asks the reconciler: about dead letters and what becomes of them, and for its side of the books."""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.questions import Question
from contracts.status import Status
from contracts.values import Value

LETTERS_MAX = 100
"""Dead letters that one question lists or settles."""
ACCOUNTS_MAX = 5_000
"""Accounts in one answer."""
ENTRIES_MAX = 1_000
"""Messages of one account in one answer."""
REPEATS_MAX = 50
"""Messages named because they were asked for again and again."""


class LetterState(StrEnum):
    """What became of a dead letter. One that dies again after its replay is WAITING again."""

    WAITING = "WAITING"
    REPLAYED = "REPLAYED"
    DISCARDED = "DISCARDED"


class ListDeadLetters(Question):
    """Dead letters, latest filed first; all given conditions hold at once. Answered with `DeadLetters`.

    `before` is the number at which the page before ended; `filed_from` is included, `filed_until` is not.
    """

    TYPE: ClassVar[str] = "dead_letter.list.v1"

    state: LetterState | None = None
    queue: str | None = Field(default=None, max_length=255)
    reason: str | None = Field(default=None, max_length=255)
    type: str | None = Field(default=None, max_length=255)
    message_id: UUID | None = None
    filed_from: AwareDatetime | None = None
    filed_until: AwareDatetime | None = None
    before: int | None = Field(default=None, ge=1)
    limit: int = Field(default=50, ge=1, le=LETTERS_MAX)


class DeadLetter(Value):
    """What a queue gave up on, without its content. `number` counts letters in the order of their filing.

    `cause` is a word of a closed set for what was found wrong with it, `error` one sentence of it. `note` is why it was
    discarded. `message_id` is absent where the letter does not say which message it is about.
    """

    letter_id: UUID
    number: int
    state: LetterState
    queue: str
    reason: str
    cause: str = Field(max_length=50)
    error: str = Field(max_length=500)
    count: int = Field(ge=1)
    type: str | None = None
    message_id: UUID | None = None
    statement_id: UUID | None = None
    size_bytes: int = Field(ge=0)
    first_died_at: AwareDatetime
    last_died_at: AwareDatetime
    filed_at: AwareDatetime
    replays: int = Field(default=0, ge=0)
    settled_at: AwareDatetime | None = None
    note: str | None = Field(default=None, max_length=500)


class DeadLetters(Question):
    """One page; `more` if there is another."""

    TYPE: ClassVar[str] = "dead_letter.listed.v1"

    letters: tuple[DeadLetter, ...]
    more: bool = False


class FindDeadLetter(Question):
    """One dead letter; answered with `DeadLetterExplained`, or `Rejected`."""

    TYPE: ClassVar[str] = "dead_letter.find.v1"

    letter_id: UUID


class DeadLetterExplained(Question):
    """A letter in sentences: what it was, why it died, and what a replay would do now."""

    TYPE: ClassVar[str] = "dead_letter.explained.v1"

    letter: DeadLetter
    what: str = Field(max_length=1_000)
    why: str = Field(max_length=1_000)
    replay: str = Field(max_length=1_000)
    replayable: bool
    headers: Mapping[str, str] = Field(default_factory=dict)


class ReplayDeadLetters(Question):
    """Put letters back into the queues they died in: these ones, or up to `limit` waiting ones of a kind, oldest first.

    `after` is where the pass before ended, so that letters that stay do not hide those behind them.
    Answered with `DeadLettersSettled`.
    """

    TYPE: ClassVar[str] = "dead_letter.replay.v1"

    letter_ids: tuple[UUID, ...] = Field(default=(), max_length=LETTERS_MAX)
    queue: str | None = Field(default=None, max_length=255)
    reason: str | None = Field(default=None, max_length=255)
    type: str | None = Field(default=None, max_length=255)
    after: int | None = Field(default=None, ge=1)
    limit: int = Field(default=LETTERS_MAX, ge=1, le=LETTERS_MAX)


class DiscardDeadLetters(Question):
    """Put letters aside for good, with the reason; answered with `DeadLettersSettled`."""

    TYPE: ClassVar[str] = "dead_letter.discard.v1"

    letter_ids: tuple[UUID, ...] = Field(min_length=1, max_length=LETTERS_MAX)
    reason: str = Field(min_length=1, max_length=500)


class KeptLetter(Value):
    """A letter that stayed as it was, with a word of a closed set and a sentence of why."""

    letter_id: UUID
    code: str = Field(max_length=50)
    sentence: str = Field(max_length=500)


class DeadLettersSettled(Question):
    """Every letter looked at is in one of the two; `last` is the number of the last one if there may be more."""

    TYPE: ClassVar[str] = "dead_letter.settled.v1"

    settled: tuple[UUID, ...]
    kept: tuple[KeptLetter, ...]
    last: int | None = None


class CountBooks(Question):
    """The ledger's accounts of the hours from `since` up to `until`; answered with `BooksCounted`.

    A message belongs to the hour in which its id was made.
    """

    TYPE: ClassVar[str] = "books.count.v1"

    since: AwareDatetime
    until: AwareDatetime


class Account(Value):
    """What one tenant had accepted in one hour. `accepted` is `final` plus `open`, whoever counts.

    `digest` tells accounts of equal numbers apart: the exclusive or, over all messages, of the first 64 bits of the MD5
    of `<message id>:<true|false>`, which says whether it is final.
    """

    tenant_id: UUID
    hour: AwareDatetime
    accepted: int = Field(ge=0)
    final: int = Field(ge=0)
    open: int = Field(ge=0)
    digest: int = 0


class BooksCounted(Question):
    """One account for each tenant and hour; `complete` is false if there were too many to tell."""

    TYPE: ClassVar[str] = "books.counted.v1"

    accounts: tuple[Account, ...]
    complete: bool = True


class ListAccount(Question):
    """Every message of one account, by id; answered with `AccountListed`."""

    TYPE: ClassVar[str] = "books.list.v1"

    tenant_id: UUID
    hour: AwareDatetime
    after: UUID | None = None
    limit: int = Field(default=ENTRIES_MAX, ge=1, le=ENTRIES_MAX)


class AccountEntry(Value):
    """One message as the ledger knows it."""

    message_id: UUID
    is_final: bool


class AccountListed(Question):
    """One page; the next begins after its last message, if there are `limit` of them."""

    TYPE: ClassVar[str] = "books.listed.v1"

    entries: tuple[AccountEntry, ...]


class DescribeLedger(Question):
    """What the reconciler watches and what it did; answered with `LedgerDescribed`."""

    TYPE: ClassVar[str] = "ledger.describe.v1"


class RepeatedMessage(Value):
    """An open message that was asked for more than once. `evidence` is the last that was heard of it."""

    message_id: UUID
    tenant_id: UUID
    instance: str
    evidence: str
    requeues: int = Field(ge=0)
    verifies: int = Field(ge=0)
    asked_at: AwareDatetime | None = None
    status: Status | None = None


class LedgerDescribed(Question):
    """Open messages by the last evidence, those asked for again and again, verdicts of the last day by evidence."""

    TYPE: ClassVar[str] = "ledger.described.v1"

    open: Mapping[str, int]
    overdue: int = Field(default=0, ge=0)
    repeated: tuple[RepeatedMessage, ...] = ()
    lost_last_day: Mapping[str, int] = Field(default_factory=dict)
    dead_letters_waiting: int = Field(default=0, ge=0)
