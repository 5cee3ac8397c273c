"""Every statement has a speaker and a listener, in the registry, in the topology and in the services' code."""

import ast
import importlib
import pkgutil
from functools import cache
from pathlib import Path

import pytest

import contracts.facts
from contracts import commands, questions
from contracts.registry import BY_TYPE, ENTRIES, SERVICES, Entry, UnreadableError, decode
from contracts.statement import Statement
from contracts.topology import FACTS, QUEUES, lane_queue

ROOT = Path(__file__).parents[2]


def declared() -> set[type[Statement]]:
    for module in pkgutil.iter_modules(contracts.facts.__path__, "contracts.facts."):
        importlib.import_module(module.name)
    found: set[type[Statement]] = set()
    waiting: list[type[Statement]] = [Statement]
    while waiting:
        parent = waiting.pop()
        waiting += parent.__subclasses__()
        if "TYPE" in vars(parent) and parent.__module__.startswith("contracts."):
            found.add(parent)
    return found


@cache
def names_in(service: str) -> set[str]:
    sources = (ROOT / "services" / service / "src").rglob("*.py")
    trees = [ast.parse(path.read_text()) for path in sources]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_every_declared_statement_is_registered() -> None:
    assert declared() == {entry.statement for entry in ENTRIES}
    assert len(BY_TYPE) == len(ENTRIES)
    assert commands.RequeueMessage.TYPE in BY_TYPE
    assert questions.RegisterEndpoint.TYPE in BY_TYPE


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.statement.TYPE)
def test_everything_said_is_heard(entry: Entry) -> None:
    assert entry.said_by
    assert entry.heard_by
    assert set(entry.said_by + entry.heard_by) <= set(SERVICES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.statement.TYPE)
def test_speakers_and_listeners_are_real(entry: Entry) -> None:
    for service in entry.said_by + entry.heard_by:
        assert entry.statement.__name__ in names_in(service), f"{service} never names {entry.statement.__name__}"


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.statement.EXCHANGE == FACTS], ids=lambda entry: entry.statement.TYPE
)
def test_every_fact_reaches_a_queue_of_each_listener(entry: Entry) -> None:
    subject = entry.statement.TYPE.rsplit(".v", 1)[0]
    queues = {
        queue.name.split(".")[0] for queue in QUEUES for binding in queue.bindings if binding.key.startswith(subject)
    }
    if subject == "message.accepted":
        assert lane_queue("x").bindings[0].key == "message.accepted.x"
        queues.add("dispatcher")
    assert queues == set(entry.heard_by)


def test_unknown_types_and_misfits_are_unreadable() -> None:
    with pytest.raises(UnreadableError, match="unknown type"):
        decode("message.teleported.v1", b"{}")
    with pytest.raises(UnreadableError, match="invalid fields: "):
        decode("message.dispatched.v1", b'{"ref": {"instance": "+5547991000000"}}')
    with pytest.raises(UnreadableError) as caught:
        decode("message.dispatched.v1", b'{"key_id": ["secret text"]}')
    assert "secret" not in str(caught.value)
