"""Many messages at once, taken in as they are but written only once."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from contracts.facts import MessageAccepted
from contracts.ids import uuid7
from contracts.values import MessageRef

from .rig import Rig

BATCH = 1_000
"""As many as a few full deliveries of a lane's queue."""


async def crowd(rig: Rig, count: int, *, tenant_id: UUID | None = None, **options: Any) -> list[MessageRef]:
    """`count` messages of one tenant that differ in nothing but their ids."""
    first = rig.message(tenant_id=tenant_id or uuid4(), **options)
    messages = [copy_of(first) for _ in range(count)]
    for start in range(0, count, BATCH):
        await rig.accept(*messages[start : start + BATCH])
    return [message.ref for message in messages]


def copy_of(message: MessageAccepted) -> MessageAccepted:
    """The same once more, as a message of its own; nobody can open what is sealed in it."""
    return message.model_copy(update={"ref": message.ref.model_copy(update={"message_id": uuid7()})})


async def make_room(rig: Rig, ended: Mapping[str, int]) -> None:
    """As if so many calls of each lane had ended."""
    for instance, count in ended.items():
        await rig.write(
            "UPDATE dispatcher.lanes SET in_flight = in_flight - :count, wake_at = :now WHERE instance = :instance",
            count=count,
            now=rig.now(),
            instance=instance,
        )
