"""What must be forgotten: contents that are no longer kept, and people who asked to be forgotten."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.facts.fact import Fact
from contracts.values import Digest, Instance, Sealed

FORGOTTEN_MAX = 500
"""Messages in one statement."""


class ContentForgotten(Fact):
    """What these messages of one number said, and to whom, is kept no longer; copies of it must go. Said by api.

    Said where a retention ended, a number was purged, or a recipient is erased. Repeating it is harmless.
    """

    TYPE: ClassVar[str] = "content.forgotten.v1"

    number_id: UUID
    message_ids: tuple[UUID, ...] = Field(min_length=1, max_length=FORGOTTEN_MAX)
    forgotten_at: AwareDatetime


class RecipientErased(Fact):
    """A person is to be forgotten: in everything of one tenant, or of all where `tenant_id` is None. Said by api.

    `instances` are the numbers that may have written to the person for that tenant; None stands for every number.
    `sealed_recipient` holds the E.164 digits, its associated data is the erasure's id.
    Said when the erasure begins, and once more when nothing of it is on its way any longer. Repeating it is harmless.
    """

    TYPE: ClassVar[str] = "recipient.erased.v1"

    erasure_id: UUID
    tenant_id: UUID | None = None
    instances: tuple[Instance, ...] | None = Field(default=None, max_length=1_000)
    recipient_hash: Digest
    sealed_recipient: Sealed
    erased_at: AwareDatetime
