"""Any receipts in any order, split and repeated in any way, end in one status and one event per status reached.

`RECEIPT_ORDERS=2000 .venv/bin/pytest --timeout=0 tests/reliability/test_receipt_orders.py` tries many more.
Shrinking would outlast the time limit; add `Phase.shrink` by hand to make a failing order short.
"""

import os
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.reliability.receipt_story import Stage, Told, open_stage

from chassis.testing.template_database import TestDatabase
from contracts.status import RANK, Status
from contracts.values import MessageRef

EXAMPLES = int(os.environ.get("RECEIPT_ORDERS", "15"))
ROUNDS = 4
MEANINGS: Sequence[tuple[object, Status | None]] = (
    ("ERROR", Status.FAILED),
    (0, Status.FAILED),
    ("SERVER_ACK", Status.SENT),
    ("2", Status.SENT),
    ("DELIVERY_ACK", Status.DELIVERED),
    (3, Status.DELIVERED),
    ("READ", Status.READ),
    ("PLAYED", Status.READ),
    (5, Status.READ),
    ("PENDING", None),
    ("DELETED", None),
    ("FOO", None),
    (None, None),
)
EVENTS = {
    Status.SENT: "message.sent",
    Status.DELIVERED: "message.delivered",
    Status.READ: "message.read",
    Status.FAILED: "message.failed",
}
SHARED, OWN = "shared", "own"
"""One key that a message of either number has, and one that only the first number's other message has."""

SOMETIMES = ("died", "delivered twice", "before its dispatch", "repeated", "failed, then delivered")
MESSAGES = ((0, SHARED), (1, SHARED), (0, OWN))


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a webhook: a report in some version's shape, or something else altogether."""

    key: str
    meaning: tuple[object, Status | None]
    shape: str

    def item(self, key_id: str) -> object:
        status, _ = self.meaning
        match self.shape:
            case "nested":
                return {"key": {"id": key_id, "fromMe": True}, "update": {"status": status}}
            case "v1":
                return {"id": key_id, "fromMe": True, "status": status, "remoteJid": "1000@lid"}
            case "inbound":
                return {"keyId": key_id, "fromMe": False, "status": status}
            case "rowless":
                return {"messageId": key_id, "status": status}
            case "poison":
                return [status]
            case _:
                return {"keyId": key_id, "messageId": "c1", "fromMe": True, "status": status}

    @property
    def reported(self) -> Status | None:
        return None if self.shape in ("inbound", "rowless", "poison") else self.meaning[1]


@dataclass(frozen=True, slots=True)
class Webhook:
    """A post of one number, which it may forget to name; then only what no other number has is told of."""

    number: int
    named: bool
    entries: tuple[Entry, ...]

    def reports(self) -> list[tuple[int, str, Status]]:
        number = self.number if self.named else 0
        heard = [one for one in self.entries if self.named or one.key == OWN]
        return [(number, one.key, one.reported) for one in heard if one.reported is not None]

    def payload(self, instances: Sequence[str], key_ids: Mapping[str, str]) -> object:
        items = [one.item(key_ids[one.key]) for one in self.entries if self.named or one.key == OWN]
        data = items[0] if len(items) == 1 else items
        name = {"instance": instances[self.number]} if self.named else {}
        return {"event": "messages.update", "data": data, "date_time": "2020-01-01T00:00:00.000Z", **name}


_entries = st.builds(
    Entry,
    st.sampled_from((SHARED, OWN)),
    st.sampled_from(MEANINGS),
    st.sampled_from(("flat", "flat", "nested", "v1", "inbound", "rowless", "poison")),
)
_webhooks = st.builds(
    Webhook,
    st.sampled_from((0, 1)),
    st.sampled_from((True, True, True, False)),
    st.lists(_entries, min_size=1, max_size=4).map(tuple),
)
_rounds = st.lists(st.lists(_webhooks, max_size=4), min_size=ROUNDS, max_size=ROUNDS)
_dispatches = st.tuples(*(st.integers(0, ROUNDS) for _ in MESSAGES))
_numbers = count()


@pytest.fixture(scope="module")
async def stage(module_database: TestDatabase) -> AsyncIterator[Stage]:
    """What it ends with: orders in which these things never happened would prove little."""
    async with open_stage(module_database) as opened:
        yield opened
    assert not [what for what in SOMETIMES if not opened.happened[what]]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES < 100,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(rounds=_rounds, dispatches=_dispatches, seed=st.integers(0, 2**32 - 1))
async def test_case_01_case_06_case_49_any_order_ends_in_one_status_and_one_event_per_status(
    stage: Stage, rounds: list[list[Webhook]], dispatches: tuple[int, ...], seed: int
) -> None:
    """`dispatches`: in which round each message's dispatch is heard of, the last one being after all receipts."""
    example = next(_numbers)
    stage.dice = random.Random(seed)
    instances = [f"number-{example}-{number}" for number in (0, 1)]
    key_ids = {SHARED: f"3EB0{example:018X}", OWN: f"3EB1{example:018X}"}
    refs = [await stage.accept(instances[number]) for number, _ in MESSAGES]
    for position, webhooks in enumerate(rounds):
        await hear_dispatches(stage, refs, dispatches, key_ids, position)
        for webhook in webhooks:
            await stage.post(webhook.payload(instances, key_ids))
        await stage.work()
    await hear_dispatches(stage, refs, dispatches, key_ids, ROUNDS)
    await stage.come_to_rest()
    reports = [report for webhooks in rounds for webhook in webhooks for report in webhook.reports()]
    for (number, key), ref, heard_in in zip(MESSAGES, refs, dispatches, strict=True):
        reported = {status for *whose, status in reports if whose == [number, key]}
        judge(await stage.told(ref), reported)
        stage.happened["before its dispatch"] += bool(reported) and heard_in == ROUNDS
        stage.happened["repeated"] += len(reports) > len(set(reports))
        stage.happened["failed, then delivered"] += {Status.FAILED, Status.DELIVERED} <= reported


def judge(told: Told, reported: set[Status]) -> None:
    """The status depends on what was reported and on nothing else; events are the steps that led to it, each once."""
    assert told.status is max({Status.DISPATCHED, *reported}, key=RANK.__getitem__)
    ranks = [RANK[status] for status in told.transitions]
    assert ranks == sorted(set(ranks)), "backwards, or the same twice"
    reached = [status for status in told.transitions if status is not Status.DISPATCHED]
    assert set(reached) <= reported
    assert list(told.events) == [EVENTS[status] for status in reached]
    assert not reported or told.events[-1] == EVENTS[told.status]


async def hear_dispatches(
    stage: Stage, refs: Sequence[MessageRef], dispatches: Sequence[int], key_ids: Mapping[str, str], position: int
) -> None:
    for (_, key), ref, heard_in in zip(MESSAGES, refs, dispatches, strict=True):
        if heard_in == position:
            await stage.hear_dispatched(ref, key_ids[key])
