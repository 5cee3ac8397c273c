"""Bodies of a client's number routes, as the published contract has them."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, StrictBool, StrictInt

from api.numbers.domain import Number, PiiMode
from api.own_numbers.domain import (
    Change,
    Group,
    KeyRef,
    NewNumber,
    Pairing,
    Settings,
    effective,
    phone_digits,
)
from api.own_numbers.usecases.create_number import Created
from api.own_numbers.usecases.show_numbers import Seen
from api.schemas import Body, PlainLine, PlainLines, instant
from contracts.values import ConnectionState

NO_EXTRA_CHARGE = {"extraChargeUnpaidSince": None, "extraChargeDisconnectAt": None}


class SettingsBody(Body):
    """Only what is given changes; null resets an advanced setting to the gateway's default."""

    history_import_enabled: StrictBool = True
    webhook_historical_messages: StrictBool = False
    ignore_newsletters: StrictBool = False
    mark_read_on_send: StrictBool = True
    always_online: StrictBool | None = None
    reject_call: StrictBool | None = None
    msg_reject_call: PlainLines | None = Field(default=None, max_length=1_000)
    read_messages: StrictBool | None = None
    ignore_groups: StrictBool | None = None
    ignore_status: StrictBool | None = None

    def given(self) -> Settings:
        """By their public names; what was not given is left out."""
        return {_camel(name): getattr(self, name) for name in sorted(self.model_fields_set)}


class NewNumberBody(Body):
    """A number to be paired by QR code."""

    name: PlainLine = Field(min_length=1, max_length=100)
    number: PlainLine = Field(min_length=1, max_length=50)
    link_to_api_key: StrictBool | None = None
    settings: SettingsBody | None = None

    def new_number(self) -> NewNumber:
        """The same as a value; raises `RefusedError` for what is no phone number."""
        settings = self.settings.given() if self.settings else {}
        return NewNumber(name=self.name, phone=phone_digits(self.number), link=self.link_to_api_key, settings=settings)


class ChangeBody(Body):
    """At least one of them; `piiRetentionDays` belongs to STORE_X_DAYS and is forgotten otherwise."""

    pii_mode: PiiMode | None = None
    pii_retention_days: StrictInt | None = Field(default=None, ge=1, le=3_650)
    settings: SettingsBody | None = None

    def change(self) -> Change:
        """The same as a value."""
        settings = self.settings.given() if self.settings else {}
        return Change(pii_mode=self.pii_mode, pii_retention_days=self.pii_retention_days, settings=settings)


def list_item(number: Number, keys: Sequence[KeyRef]) -> dict[str, Any]:
    """One row of the list: the union of what the SDK and the documentation show."""
    item: dict[str, Any] = {
        "id": str(number.number_id),
        "instanceName": number.instance,
        "number": number.phone or "",
        "name": number.origin,
        "createdAt": instant(number.created_at),
        "updatedAt": instant(number.updated_at),
        "apiKeys": [{"name": key.name, "keyPrefix": key.prefix, "keyLast4": key.last4} for key in keys],
        **_links(number),
        **NO_EXTRA_CHARGE,
        "state": number.state.value,
        "provider": number.gateway,
    }
    if number.state_observed_at is not None:
        item["lastValidatedAt"] = instant(number.state_observed_at)
    return item


def detail_body(number: Number) -> dict[str, Any]:
    """One number with its settings; never its credentials."""
    is_open = number.state is ConnectionState.OPEN
    return {
        "id": str(number.number_id),
        "number": number.phone or "",
        "name": number.origin,
        "provider": number.gateway,
        "state": number.state.value,
        "isFullyConnected": is_open,
        "piiMode": number.pii_mode.value,
        "piiRetentionDays": number.pii_retention_days,
        "settings": {
            **effective(number.settings),
            "appliesTo": {"history": "all", "advanced": "none", "sending": "none"},
        },
        "createdAt": instant(number.created_at),
        "updatedAt": instant(number.updated_at),
        "health": {"sendable": is_open and not number.paused},
        "meta": None,
        "coexistence": None,
        **NO_EXTRA_CHARGE,
    }


def created_body(created: Created) -> dict[str, Any]:
    """The new number and how to pair it."""
    number, pairing = created.number, pairing_body(created.pairing)
    return {
        "instance": {
            "id": str(number.number_id),
            "tenantId": str(number.tenant_id),
            "instanceName": number.instance,
            "number": number.phone or "",
            "displayName": number.origin,
            "name": number.origin,
            "state": number.state.value,
            "status": number.state.value,
            "integration": "WHATSAPP-BAILEYS",
            "createdAt": instant(number.created_at),
            "updatedAt": instant(number.updated_at),
            **_links(number),
        },
        **pairing,
        "linkedApiKeyId": str(created.linked_key_id) if created.linked_key_id else None,
        "primaryLink": pairing,
        "secondaryLink": None,
    }


def pairing_body(pairing: Pairing) -> dict[str, Any]:
    """What to scan or type; either may be missing."""
    return {"qrcodeBase64": pairing.qr_code, "pairingCode": pairing.code}


def status_body(seen: Seen) -> dict[str, Any]:
    """Live with `checkedAt`, or remembered with `lastKnownAt`."""
    when = {"checkedAt": instant(seen.at)} if seen.live else {"lastKnownAt": instant(seen.at)}
    return {"id": str(seen.number_id), "state": seen.state.value, "stale": not seen.live, **when}


def group_body(group: Group) -> dict[str, Any]:
    """A group under both names its title has."""
    return {"id": group.group_id, "subject": group.subject, "name": group.subject}


def _links(number: Number) -> dict[str, Any]:
    return {
        "primaryLink": {"state": number.state.value, "connectedAt": instant(number.connected_at)},
        "secondaryLink": None,
        "isFullyConnected": number.state is ConnectionState.OPEN,
    }


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)
