"""What must hold between promises, calls and facts, whatever happened: checked after every step of the model."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tests.model.truth import Call, Words

from contracts.errors import ErrorCode
from contracts.facts import MessageAccepted, MessageDispatchCanceled, MessageDispatched, MessageDispatchFailed
from contracts.statement import Statement
from dispatcher.domain.jobs import JobKey

Final = MessageDispatched | MessageDispatchFailed | MessageDispatchCanceled
MAY_HAVE_LEFT = frozenset({ErrorCode.UNCONFIRMED})
"""Failures that do not deny that something was sent."""


@dataclass(slots=True)
class Books:
    """Promises by message and round, the words of each, and what was said of them."""

    promised: dict[JobKey, MessageAccepted] = field(default_factory=dict)
    words: dict[JobKey, Words] = field(default_factory=dict)
    finals: dict[JobKey, Final] = field(default_factory=dict)
    final_at: dict[JobKey, datetime] = field(default_factory=dict)
    flagged: set[JobKey] = field(default_factory=set)

    def promise(self, accepted: MessageAccepted, words: Words) -> None:
        """The platform owes it an end."""
        key = (accepted.ref.message_id, accepted.ref.round)
        self.promised[key], self.words[key] = accepted, words

    def hear(self, statements: Iterable[Statement], *, now: datetime) -> None:
        """A job ends once: what is said again of its end says the same."""
        for fact in statements:
            if not isinstance(fact, MessageDispatched | MessageDispatchFailed | MessageDispatchCanceled):
                continue
            key = (fact.ref.message_id, fact.ref.round)
            known = self.finals.setdefault(key, fact)
            self.final_at.setdefault(key, now)
            assert _end(known) == _end(fact), f"{key} ended as {_end(known)} and as {_end(fact)}"

    def check(self, calls: Iterable[Call]) -> None:
        """Raises `AssertionError` for what may never be."""
        calls = list(calls)
        self._check_windows(calls)
        self._check_duplicates(calls)
        self._check_ends(calls)

    def open(self) -> list[JobKey]:
        """Promises without an end."""
        return [key for key in self.promised if key not in self.finals]

    def _check_windows(self, calls: Iterable[Call]) -> None:
        for call in calls:
            assert call.began_at < self.promised[call.key].deliver_until, f"{call.key} called too late"
            end = self.finals.get(call.key)
            is_canceled = isinstance(end, MessageDispatchCanceled)
            assert not is_canceled or call.began_at <= self.final_at[call.key], f"{call.key} called though canceled"

    def _check_duplicates(self, calls: Iterable[Call]) -> None:
        sends: Counter[Words] = Counter(call.words for call in calls if call.sent_at is not None)
        for words, keys in self._alike().items():
            if not self.flagged & set(keys):
                assert sends[words] <= len(keys), f"{sends[words]} sends for {len(keys)} alike, none flagged"

    def _check_ends(self, calls: Iterable[Call]) -> None:
        """Whoever says that it was sent, names a send; no two name the same; who denies it, is right."""
        sent = {call.key_id: call for call in calls if call.sent_at is not None}
        named = {key: end.key_id for key, end in self.finals.items() if isinstance(end, MessageDispatched)}
        assert len(set(named.values())) == len(named), "two jobs claim the same send"
        for key, key_id in named.items():
            assert key_id in sent, f"{key} was never sent"
            assert sent[key_id].words == self.words[key], f"{key} claims somebody else's send"
        told = {call.key for call in sent.values()}
        alike = self._alike()
        for key, end in self.finals.items():
            is_alone = len(alike[self.words[key]]) == 1
            denies = isinstance(end, MessageDispatchFailed) and end.error_code not in MAY_HAVE_LEFT
            denies = denies or isinstance(end, MessageDispatchCanceled)
            assert not (denies and is_alone and key in told and key not in self.flagged), f"{key} was sent after all"

    def _alike(self) -> Mapping[Words, list[JobKey]]:
        alike: defaultdict[Words, list[JobKey]] = defaultdict(list)
        for key, words in self.words.items():
            alike[words].append(key)
        return alike


def _end(fact: Final) -> tuple[str, str | None]:
    match fact:
        case MessageDispatched():
            return "dispatched", fact.key_id
        case MessageDispatchFailed():
            return "failed", fact.error_code
        case MessageDispatchCanceled():
            return "canceled", None
