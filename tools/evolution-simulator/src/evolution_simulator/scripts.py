"""What a test may ask the gateway to do instead of behaving: scripts per number and instance, consumed step by step."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evolution_simulator.ids import KEY_ID_PREFIX

STEPS_MAX = 100_000


class Act(StrEnum):
    """What happens to one send. Whether it was accepted is decided by the act, not by the answer."""

    ACCEPT = "accept"
    SLOW = "slow"
    ACCEPT_THEN_HANG = "accept_then_hang"
    ACCEPT_THEN_RESET = "accept_then_reset"
    ACCEPT_THEN_CLOSE = "accept_then_close"
    ACCEPT_THEN_CUT = "accept_then_cut"
    ERROR_500_AFTER_SEND = "error_500_after_send"
    ERROR_400_AFTER_SEND = "error_400_after_send"
    ERROR_400_PRISMA_AFTER_SEND = "error_400_prisma_after_send"
    REFUSE_NOT_EXISTS = "refuse_not_exists"
    REFUSE_SCHEMA = "refuse_schema"
    ERROR_500 = "error_500"
    ERROR_400_CLOSED = "error_400_closed"
    HTML_502 = "html_502"
    RATE_LIMITED_429 = "rate_limited_429"
    HANG = "hang"
    RESET_BEFORE = "reset_before"
    CLOSE_BEFORE = "close_before"


class Status(StrEnum):
    ERROR = "ERROR"
    SERVER_ACK = "SERVER_ACK"
    DELIVERY_ACK = "DELIVERY_ACK"
    READ = "READ"
    PLAYED = "PLAYED"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Step(_Model):
    """One act; `times` repeats it. Fields that the act does not use are ignored.

    `key_prefix` begins the id of what is accepted, so that it looks like another client's and stays unique.
    """

    act: Act
    times: int | None = Field(default=None, ge=1, le=1_000_000)
    message: str = "Connection Closed"
    seconds: float = Field(default=30.0, ge=0, le=3600)
    ms: int = Field(default=1_000, ge=0, le=3_600_000)
    retry_after: str | None = None
    key_prefix: str = Field(default=KEY_ID_PREFIX, min_length=1, max_length=100)


class Receipts(_Model):
    """How receipts come: `lost` ones happened but their webhook is never posted; `early` ones beat the HTTP answer."""

    statuses: tuple[Status, ...] | None = None
    delays_ms: dict[Status, int] = Field(default_factory=dict)
    error_after_ms: int | None = Field(default=None, ge=0)
    duplicates: int = Field(default=1, ge=1, le=100)
    order: Literal["forward", "reversed", "shuffled"] = "forward"
    lost: tuple[Status, ...] = ()
    early: bool = False
    echo: Literal["on", "off", "duplicate"] = "on"


class Match(_Model):
    """Which sends a script is for; a number matches as requested, as WhatsApp address or as its digits."""

    instance: str | None = None
    number: str | None = None


def _step_by_name(value: Any) -> Any:
    return {"act": value} if isinstance(value, str) else value


_RECEIPTS_BY_NAME: dict[str, dict[str, Any]] = {
    "none": {"statuses": []},
    "lost": {"lost": list(Status)},
    "early": {"early": True},
    "reversed": {"order": "reversed"},
    "shuffled": {"order": "shuffled"},
    "error": {"error_after_ms": 0},
}


def _receipts_by_name(value: Any) -> Any:
    return _RECEIPTS_BY_NAME.get(value, value) if isinstance(value, str) else value


class Script(_Model):
    """Steps in order, then the last one for ever (or `accept`, where the last says `times`); `cycle` starts again."""

    match: Match = Match()
    send: tuple[Annotated[Step, BeforeValidator(_step_by_name)], ...] = Field(default=(), max_length=STEPS_MAX)
    receipts: Annotated[Receipts, BeforeValidator(_receipts_by_name)] = Receipts()
    cycle: bool = False
    per_number: bool = False


ACCEPT = Step(act=Act.ACCEPT)
MAGIC_DIGITS = 6
MAGIC_NUMBERS = {
    "000001": Script(send=(Step(act=Act.REFUSE_NOT_EXISTS),)),
    "000002": Script(send=(Step(act=Act.ERROR_500),)),
    "000003": Script(send=(Step(act=Act.ACCEPT_THEN_RESET),)),
    "000004": Script(send=(Step(act=Act.RESET_BEFORE),)),
    "000005": Script(receipts=Receipts(error_after_ms=0)),
    "000006": Script(receipts=Receipts(statuses=(Status.SERVER_ACK, Status.DELIVERY_ACK))),
    "000007": Script(receipts=Receipts(statuses=())),
}


def step_at(script: Script, position: int) -> Step:
    """The step for the n-th send (from 0) that a script sees."""
    if not script.send:
        return ACCEPT
    total = sum(step.times or 1 for step in script.send)
    if position >= total and not script.cycle:
        return ACCEPT if script.send[-1].times else script.send[-1]
    remaining = position % total
    for step in script.send:
        remaining -= step.times or 1
        if remaining < 0:
            return step
    return script.send[-1]


@dataclass(slots=True)
class _Running:
    script: Script
    seen: Counter[str]

    def counted_by(self, number: str) -> str:
        return number if self.script.per_number else ""


class ScriptBook:
    """The scripts in force. The most specific wins: number and instance, number, instance, all; then magic numbers."""

    def __init__(self, *, magic_numbers: bool) -> None:
        self._magic_numbers = magic_numbers
        self._running: dict[Match, _Running] = {}

    def put(self, script: Script) -> None:
        self._running[script.match] = _Running(script, Counter())

    def clear(self) -> None:
        self._running.clear()

    def take(self, instance: str, number: str, jid: str) -> tuple[Step, Receipts]:
        """Consume the next step for a send."""
        running = self._find(instance, number, jid)
        counter = running.counted_by(number)
        position = running.seen[counter]
        running.seen[counter] += 1
        return step_at(running.script, position), running.script.receipts

    def peek(self, instance: str, number: str, jid: str) -> Step:
        """The step the next send would meet."""
        running = self._find(instance, number, jid)
        return step_at(running.script, running.seen[running.counted_by(number)])

    def _find(self, instance: str, number: str, jid: str) -> _Running:
        numbers = (number, jid, jid.partition("@")[0])
        for named in (*(Match(instance=instance, number=each) for each in numbers), *map(_any_instance, numbers)):
            if named in self._running:
                return self._running[named]
        magic = MAGIC_NUMBERS.get(numbers[-1][-MAGIC_DIGITS:]) if self._magic_numbers else None
        if magic is not None:
            return _Running(magic, Counter())
        fallback = self._running.get(Match(instance=instance)) or self._running.get(Match())
        return fallback or _Running(Script(), Counter())


def _any_instance(number: str) -> Match:
    return Match(number=number)
