"""How a key comes in with a request, and bodies of the key routes."""

import math
from typing import Annotated, Any
from uuid import UUID

from fastapi import Header
from pydantic import Field, StrictStr

from api.access.domain import Caller, KeyScope, Rate, StoredKey
from api.access.usecases import Rotated
from api.numbers.domain import Number, PiiMode
from api.refusals import Refusal, RefusedError
from api.schemas import Body, instant
from chassis.edge import add_answer_headers
from contracts.values import Environment

ApiKey = Annotated[str | None, Header(alias="x-api-key")]


def tell_rate(rate: Rate) -> None:
    """Say in the answer at hand how many requests are left, as draft-ietf-httpapi-ratelimit-headers has it."""
    add_answer_headers(
        (b"ratelimit-policy", b'"requests";q=%d;w=60' % rate.per_minute),
        (b"ratelimit", b'"requests";r=%d;t=%d' % (rate.left, math.ceil(rate.full_in_seconds))),
    )


class KeyBody(Body):
    """An API key; without a number it sends from the platform's default, or from none if it is the tenant's."""

    project_id: UUID
    environment: Environment
    name: str = Field(min_length=1, max_length=200)
    number_id: UUID | None = None
    scope: KeyScope | None = None


class RotateBody(Body):
    """The number whose key is replaced."""

    whatsapp_number_id: StrictStr = Field(min_length=1, max_length=100)

    def number_id(self) -> UUID:
        """Raises `RefusedError(NUMBER_NOT_FOUND)` for what cannot be the id of a number."""
        try:
            return UUID(self.whatsapp_number_id)
        except ValueError:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND, field="whatsappNumberId") from None


def reveal_body(number: Number, key: StoredKey) -> dict[str, Any]:
    """One number's key for a tenant key. Only hashes are stored, so nothing can be revealed."""
    return {
        "numberId": str(number.number_id),
        "number": number.phone,
        "displayName": number.display_name,
        "keyId": str(key.key_id),
        "keyLast4": key.last4,
        "key": None,
        "revealable": False,
        "lastUsedAt": instant(key.last_used_at),
    }


def masked_body(key: StoredKey, caller: Caller) -> dict[str, Any]:
    """The calling key itself, with the number it stands for."""
    number = caller.number if caller.bound else None
    return {
        "id": str(key.key_id),
        "name": key.name,
        "keyPrefix": key.prefix,
        "keyLast4": key.last4,
        "lastUsedAt": instant(key.last_used_at),
        "createdAt": instant(key.created_at),
        "webhookId": None,
        "projectId": str(key.project_id),
        "webhook": None,
        "whatsappInstanceId": str(number.number_id) if number else None,
        "whatsappInstance": _instance(number) if number else None,
        "retentionDays": _retention_days(number),
    }


def rotated_body(rotated: Rotated) -> dict[str, Any]:
    """A number's new key, shown this once."""
    key = rotated.key
    return {
        "numberId": str(key.number_id),
        "keyId": str(key.key_id),
        "keyPrefix": key.prefix,
        "keyLast4": key.last4,
        "key": rotated.parts.raw(),
        "createdAt": instant(key.created_at),
    }


def regenerated_body(rotated: Rotated) -> dict[str, Any]:
    """The calling key's successor, shown this once."""
    key = rotated.key
    return {
        "id": str(key.key_id),
        "name": key.name,
        "key": rotated.parts.raw(),
        "keyPrefix": key.prefix,
        "keyLast4": key.last4,
        "scope": key.scope.value,
        "whatsappNumberId": str(key.number_id) if key.number_id else None,
        "createdAt": instant(key.created_at),
    }


def _instance(number: Number) -> dict[str, Any]:
    return {
        "id": str(number.number_id),
        "instanceName": number.instance,
        "displayName": number.origin,
        "number": number.phone or "",
        "state": number.state.value,
    }


def _retention_days(number: Number | None) -> int:
    """In days, as the contract wants it: content of a number without a limit is kept for ten years in its words."""
    if number is None or number.pii_mode is PiiMode.STORE_INDEFINITE:
        return RETENTION_DAYS_MAX
    return number.pii_retention_days or 0


RETENTION_DAYS_MAX = 3_650
