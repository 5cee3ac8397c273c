"""Bodies of the routes that forget a recipient; the phone is only ever read."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StrictStr

from api.erasures.domain import Erasure
from api.schemas import Body, instant

Phone = Annotated[StrictStr, Field(min_length=1, max_length=100)]


class EraseBody(Body):
    """Whom to forget, for one tenant or, without `tenantId`, for all."""

    phone: Phone
    tenant_id: UUID | None = None


def erasure_body(erasure: Erasure) -> dict[str, Any]:
    """What was done and what is still to be done."""
    return {
        "id": str(erasure.erasure_id),
        "tenantId": str(erasure.tenant_id) if erasure.tenant_id else None,
        "status": erasure.state.value,
        "requestedAt": instant(erasure.requested_at),
        "completedAt": instant(erasure.completed_at),
        "messagesForgotten": erasure.messages_forgotten,
        "messagesCanceled": erasure.messages_canceled,
        "messagesWaiting": erasure.messages_waiting,
        "profilesDeleted": erasure.profiles_deleted,
        "optInsRevoked": erasure.opt_ins_revoked,
    }
