"""What the platform asks of any WhatsApp gateway, and the closed sets of what a gateway can tell it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from contracts.parts import Buttons, ListMenu, Media


class RefusalCode(StrEnum):
    """Why a gateway refused for good; nothing was sent. Values are public error codes where one exists."""

    WHATSAPP_NOT_EXIST = "WHATSAPP_NOT_EXIST"
    INSTANCE_NOT_FOUND = "INSTANCE_NOT_FOUND"
    GATEWAY_AUTH_FAILED = "GATEWAY_AUTH_FAILED"
    GATEWAY_REFUSED = "GATEWAY_REFUSED"


class NotSentReason(StrEnum):
    """Why nothing was sent although trying again may succeed."""

    UNREACHABLE = "UNREACHABLE"
    DISCONNECTED = "DISCONNECTED"
    INSTANCE_NOT_READY = "INSTANCE_NOT_READY"
    RATE_LIMITED = "RATE_LIMITED"
    GATEWAY_ERROR = "GATEWAY_ERROR"


class UnknownReason(StrEnum):
    """Why nobody can say yet whether the message left."""

    TIMEOUT = "TIMEOUT"
    CONNECTION_LOST = "CONNECTION_LOST"
    UNREADABLE_ANSWER = "UNREADABLE_ANSWER"
    UNCLASSIFIED_ANSWER = "UNCLASSIFIED_ANSWER"
    STORED_AFTER_SEND_FAILED = "STORED_AFTER_SEND_FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The gateway handed the message on; `key_id` is WhatsApp's id, `recipient` the digits it used (None for a LID).

    `id_honoured`: whether `key_id` is the reserved one; None if none was offered.
    """

    key_id: str
    recipient: str | None = field(default=None, repr=False)
    id_honoured: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Permanent, and certainly nothing was sent. `detail` carries no personal data."""

    code: RefusalCode
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """Certainly not sent; may be tried again, not before `retry_after_seconds` if that is given."""

    reason: NotSentReason
    detail: str = ""
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The request may have been carried out; only evidence can tell."""

    reason: UnknownReason
    detail: str = ""


Answer = Taken | Refused | NotSent | Unknown


class ConnectionState(StrEnum):
    """A number's connection to WhatsApp as its gateway reports it."""

    OPEN = "OPEN"
    CONNECTING = "CONNECTING"
    CLOSE = "CLOSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where an instance lives and the key that opens it; never logged (`repr` hides the key)."""

    base_url: str
    api_key: str = field(repr=False)
    instance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """One message to one recipient. `recipient` is E.164 digits without `+`.

    `text` is the text itself, the caption of a file (may be empty), or the body above buttons or a list. `reserved_id`
    is the WhatsApp id the message shall have, if its gateway lets us choose.
    """

    access: Access
    recipient: str = field(repr=False)
    text: str = field(repr=False)
    part: Media | Buttons | ListMenu | None = field(default=None, repr=False)
    link_preview: bool = False
    typing_ms: int = 0
    reserved_id: str | None = None


class ReceiptStatus(StrEnum):
    """What a gateway may report about a message after it left, in our words."""

    SENT = "SENT"
    DELIVERED = "DELIVERED"
    READ = "READ"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A progress report for one WhatsApp message of one instance; None if the gateway did not say of which."""

    instance: str | None
    key_id: str
    status: ReceiptStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """Proof that an instance handed a message to WhatsApp: who it went to and what it said (clear, never logged).

    `text` is comparable with `contracts.matching.text_of`; None for a file without a caption. `lid` is WhatsApp's
    private name for the recipient, never a phone number.
    """

    instance: str
    key_id: str
    recipient: str | None = field(repr=False)
    text: str | None = field(repr=False)
    sent_at: datetime | None = None
    lid: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A gateway named one person both ways: by `lid` and by `phone` (clear, never logged)."""

    instance: str
    lid: str = field(repr=False)
    phone: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionChange:
    """An instance's connection changed, as told by a webhook."""

    instance: str
    state: ConnectionState
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Understood and of no consequence; `reason` is a bounded word for a metric label."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Not understood; belongs into quarantine. `reason` is a bounded word without personal data."""

    reason: str


Observation = Receipt | Echo | Alias | ConnectionChange | Ignored | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """An outbound message as the gateway's own store remembers it; `text` as in `Echo`."""

    key_id: str
    recipient: str = field(repr=False)
    text: str | None = field(repr=False)
    sent_at: datetime
    statuses: Sequence[ReceiptStatus] = ()


class LookupFailedError(Exception):
    """The gateway's store could not be read; says nothing about any message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a gateway is known to do; what is not known counts as not done."""

    native_choices: bool = False
    reserved_ids: bool = False


class Sender(Protocol):
    """The only door through which a message leaves."""

    def call_seconds_max(self, outbound: Outbound) -> float:
        """The longest `send` can take, presence included: what a lease must outlive."""
        ...

    async def send(self, outbound: Outbound) -> Answer:
        """Send once; never raises for anything the network or the gateway does."""
        ...


class Inspector(Protocol):
    """Knows what the gateway behind an access can do."""

    async def abilities(self, access: Access) -> Abilities:
        """Short, remembered for a while, and never raises: an unreachable gateway is known to do nothing."""
        ...


class Lookup(Protocol):
    """Evidence about the past, from the gateway's own memory."""

    async def sent_message(self, access: Access, *, key_id: str) -> StoredMessage | None:
        """The outbound message with this id; None if the store has none; raises `LookupFailedError`."""
        ...

    async def sent_messages(
        self, access: Access, *, recipient: str, since: datetime, until: datetime, limit: int = 50
    ) -> Sequence[StoredMessage]:
        """Outbound messages to `recipient` in the window, newest first; raises `LookupFailedError`."""
        ...

    async def connection_state(self, access: Access) -> ConnectionState | None:
        """The instance's state, None if the gateway does not know the instance; raises `LookupFailedError`."""
        ...
