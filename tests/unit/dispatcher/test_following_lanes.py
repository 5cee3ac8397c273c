"""Which queues are consumed: those of lanes that take messages in, and no others."""

from dataclasses import fields
from typing import Any

from contracts.topology import Queue
from dispatcher.jobs.loops import Steps


class Consumers:
    """What is consumed, without a broker."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)

    def consumed(self) -> frozenset[str]:
        return frozenset(self.names)

    async def add(self, queue: Queue) -> bool:
        assert queue.name not in self.names, "it is consumed already"
        self.names.add(queue.name)
        return True

    async def remove(self, name: str) -> None:
        self.names.remove(name)


async def test_new_lanes_are_consumed_and_those_that_are_gone_no_longer() -> None:
    consumers = Consumers("messages--stays", "messages--gone")

    async def listed() -> list[str]:
        return ["new", "stays"]

    parts: dict[str, Any] = {part.name: None for part in fields(Steps)}
    steps = Steps(**{**parts, "consumers": consumers, "list_lanes": listed})
    assert await steps.follow_lanes() is False
    assert consumers.names == {"messages--new", "messages--stays"}
