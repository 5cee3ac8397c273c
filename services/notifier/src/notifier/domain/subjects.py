"""What a delivery is about: a message, or a number. Deliveries about one subject are made in its order."""

from uuid import UUID

from contracts.values import Instance, MessageRef, Value


class NumberRef(Value):
    """A customer's number."""

    tenant_id: UUID
    number_id: UUID
    instance: Instance


Ref = MessageRef | NumberRef


def subject_of(ref: Ref) -> tuple[UUID, int]:
    """The subject's id and its round; a number has one round."""
    if isinstance(ref, MessageRef):
        return ref.message_id, ref.round
    return ref.number_id, 1
