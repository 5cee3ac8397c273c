"""Closed sets and small values that facts are made of."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from contracts.parts import CAPTIONED, Buttons, ListMenu, Media
from contracts.sending import SendingPolicy

Instance = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
"""A gateway instance name; part of queue names and routing keys, hence the narrow alphabet."""

Sealed = Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]
"""AES-256-GCM ciphertext (base64url); opens only with the key ring and the right associated data."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""Hex HMAC-SHA256 under the pepper: equality without content."""


class Environment(StrEnum):
    """TEST sends only to the tenant's own profiles; LIVE needs production approval."""

    TEST = "TEST"
    LIVE = "LIVE"


class Category(StrEnum):
    """What a message is for; decides its urgency, deadline and what happens when its outcome stays unknown."""

    OTP = "OTP"
    UTILITY = "UTILITY"
    MARKETING = "MARKETING"


DELIVERY_WINDOW = {
    Category.OTP: timedelta(minutes=2),
    Category.UTILITY: timedelta(hours=1),
    Category.MARKETING: timedelta(hours=4),
}
"""Default time between `deliverBy` and `deliverUntil`."""


class ConnectionState(StrEnum):
    """A number's connection to WhatsApp."""

    OPEN = "OPEN"
    CONNECTING = "CONNECTING"
    CLOSE = "CLOSE"


class Value(BaseModel):
    """A part of a statement: immutable, and open to fields added later."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class MessageRef(Value):
    """Whom a message fact is about. `round` starts at 1; a manual reprocess opens the next one."""

    message_id: UUID
    tenant_id: UUID
    project_id: UUID
    number_id: UUID
    instance: Instance
    environment: Environment
    category: Category
    correlation_id: str = Field(min_length=1, max_length=100)
    round: int = Field(default=1, ge=1)


ContentKind = Literal["text", "media", "buttons", "list"]


def _kind_of_part(fields: dict[str, Any]) -> ContentKind:
    part = fields.get("part")
    return part.kind if isinstance(part, Media | Buttons | ListMenu) else "text"


class MessageContent(Value):
    """What is sealed: the recipient and what is said. Its JSON is the plaintext, the message id its associated data.

    `text` is the text itself, the caption of a file, or the body above buttons or a list. `kind` follows `part`; it is
    written down so that a reader who does not know a kind refuses it instead of sending its text alone.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    to: str = Field(min_length=8, max_length=15)
    text: str = Field(default="", max_length=4096)
    sender: str | None = None
    part: Annotated[Media | Buttons | ListMenu, Field(discriminator="kind")] | None = None
    kind: ContentKind = Field(default_factory=_kind_of_part)

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.kind != (self.part.kind if self.part else "text"):
            raise ValueError("the kind is not that of the part")
        if isinstance(self.part, Media):
            if self.text and self.part.media_type not in CAPTIONED:
                raise ValueError(f"a caption cannot be shown with {self.part.media_type}")
        elif not self.text:
            raise ValueError("there is no text")
        return self

    def __repr__(self) -> str:
        return "MessageContent(…)"

    __str__ = __repr__


class Pace(Value):
    """How fast one category may go. The gap after a send is drawn evenly between its bounds, so that it looks human.

    `burst` sends may follow each other without a gap after a rest. The caps hold in any hour and any day, not only in
    those of the clock; None is no cap.
    """

    min_ms: int = Field(ge=0, le=3_600_000)
    max_ms: int = Field(ge=0, le=3_600_000)
    burst: int = Field(default=1, ge=1, le=100)
    per_hour: int | None = Field(default=None, ge=1, le=1_000_000)
    per_day: int | None = Field(default=None, ge=1, le=10_000_000)


class EnvironmentPacing(Value):
    """What is different in one environment; None is as everywhere."""

    otp: Pace | None = None
    utility: Pace | None = None
    marketing: Pace | None = None


class PacingPolicy(Value):
    """How fast one number may send. Gaps are counted from the start of the previous send.

    `min_share`: a lower category that waits gets at least one of so many turns; None lets it starve.
    `first_contacts_per_day`: to how many recipients it never wrote to before it may write in any day; None is no limit.
    `do_not_repeat_seconds`: on the platform's default number, for how long nobody is sent the same text twice in a row;
    0 is not at all.
    `pause_when_unacknowledged`: whether it rests when nothing of what it handed over is ever acknowledged.
    `sending`: how a send looks from outside.
    """

    otp: Pace = Pace(min_ms=1_000, max_ms=3_000)
    utility: Pace = Pace(min_ms=6_000, max_ms=10_000)
    marketing: Pace = Pace(min_ms=30_000, max_ms=46_000)
    test: EnvironmentPacing | None = None
    live: EnvironmentPacing | None = None
    max_in_flight: int = Field(default=1, ge=1, le=100)
    min_share: int | None = Field(default=10, ge=2, le=1_000)
    first_contacts_per_day: int | None = Field(default=None, ge=1, le=1_000_000)
    do_not_repeat_seconds: int = Field(default=86_400, ge=0, le=2_592_000)
    pause_when_unacknowledged: bool = False
    sending: SendingPolicy = SendingPolicy()

    def pace(self, environment: Environment, category: Category) -> Pace:
        """What holds for the messages of one category in one environment."""
        everywhere = {Category.OTP: self.otp, Category.UTILITY: self.utility, Category.MARKETING: self.marketing}[
            category
        ]
        own = {Environment.TEST: self.test, Environment.LIVE: self.live}[environment]
        if own is None:
            return everywhere
        return {Category.OTP: own.otp, Category.UTILITY: own.utility, Category.MARKETING: own.marketing}[
            category
        ] or everywhere


class GatewayAccess(Value):
    """What is sealed in a number's credentials (associated data: the number id)."""

    base_url: str = Field(max_length=2_048)
    api_key: str = Field(max_length=500)

    def __repr__(self) -> str:
        return "GatewayAccess(…)"

    __str__ = __repr__


class NumberProfile(Value):
    """What is personal about a number, sealed wherever it travels. `phone` is E.164 digits without `+`."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    phone: str | None = Field(default=None, max_length=15)
    display_name: str = Field(max_length=200)

    def __repr__(self) -> str:
        return "NumberProfile(…)"

    __str__ = __repr__
