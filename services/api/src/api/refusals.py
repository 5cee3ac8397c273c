"""The closed set of reasons why the api declines a request, each with its HTTP status and one sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Refusal(Enum):
    """`name` is the public code; the value is (HTTP status, sentence). Where raised, a sentence may be more exact."""

    API_KEY_INVALID = (401, "The API key is missing, unknown or revoked.")
    OPERATOR_KEY_INVALID = (401, "The operator key is missing, unknown or revoked.")
    OPERATOR_ROLE_NOT_ALLOWED = (403, "The operator's role does not allow this.")
    OPERATOR_NOT_FOUND = (404, "There is no such operator, or it is revoked.")
    PLAN_NOT_FOUND = (404, "There is no such plan.")
    PLAN_IN_USE = (409, "A tenant has this plan.")
    PACKAGE_NOT_FOUND = (404, "There is no such package.")
    PROFILE_NOT_FOUND = (404, "There is no such profile.")
    OPT_IN_NOT_FOUND = (404, "There is no such opt-in.")
    KEY_NOT_FOUND = (404, "There is no such key.")
    NUMBER_BELONGS_TO_TENANT = (409, "The platform's default number cannot be a tenant's own.")
    NUMBER_MISMATCH = (400, "The key belongs to another number.")
    NUMBER_REQUIRED = (400, "Name the number: `whatsappNumberId`, or the header `x-whatsapp-number-id`.")
    WEBHOOK_NOT_FOUND = (404, "There is no such webhook.")
    PRODUCTION_NOT_APPROVED = (403, "The project is not approved for production, so its LIVE keys cannot send.")
    TEMPLATE_NOT_APPROVED_FOR_PRODUCTION = (403, "The template is not approved for production.")
    KEY_SCOPE_INVALID = (400, "A key of scope `number` needs a number; a key of another scope has none.")
    TENANT_SCOPE_NOT_ALLOWED = (403, "A tenant key cannot do this; use the key of a number.")
    TEST_DESTINATION_NOT_ALLOWED = (403, "TEST keys send only to the phone numbers of the tenant's profiles.")
    MARKETING_NEEDS_OWN_NUMBER = (403, "MARKETING messages leave from your own number only, not from the platform's.")
    OPT_IN_REQUIRED = (403, "The recipient has not agreed to get messages of this project from the platform's number.")
    SUBSCRIPTION_REQUIRED_FOR_MEDIA = (402, "The plan does not include media messages.")
    RATE_LIMITED = (429, "Too many requests with this key.")
    TEST_DAILY_LIMIT_EXCEEDED = (429, "The daily limit of TEST messages is reached.")
    LIVE_DAILY_LIMIT_EXCEEDED = (429, "The daily limit of the plan is reached.")
    LIVE_MONTHLY_LIMIT_EXCEEDED = (429, "The monthly limit of plan and packages is reached.")
    IDEMPOTENCY_KEY_INVALID = (400, "An Idempotency-Key has 1 to 255 characters, none of them a control character.")
    IDEMPOTENCY_KEY_REUSED = (409, "The Idempotency-Key was used for a different message.")
    IDEMPOTENCY_KEY_IN_USE = (409, "A request with this Idempotency-Key is still being carried out.")
    VALIDATION_FAILED = (400, "This item does not have the documented form.")
    CONTENT_INVALID = (400, "The message cannot be shown like this.")
    TEMPLATE_INVALID = (400, "The template cannot be used like this.")
    DESTINATION_INVALID = (400, "The destination is not a valid phone number.")
    PILOT_SELF_NUMBER = (400, "A number cannot send to itself.")
    MODE_INVALID = (400, "Give exactly one of `templateId`, `text` and `media`.")
    MODE_NOT_SUPPORTED = (400, "This kind of message is not supported yet.")
    TEXT_INVALID = (400, "The text is empty, too long or not valid Unicode.")
    SCHEDULE_INVALID = (400, "The delivery window is not valid.")
    MISSING_TEMPLATE_VARIABLES = (400, "Template variables are missing.")
    VARIABLE_INVALID = (400, "A template variable cannot be used.")
    TEMPLATE_NOT_FOUND = (404, "There is no such template.")
    TEMPLATE_PROJECT_MISMATCH = (403, "The template belongs to another project of the tenant.")
    TEMPLATE_ENVIRONMENT_MISMATCH = (403, "The template is for the other environment (TEST or LIVE).")
    TEMPLATE_EXAMPLES_REQUIRED = (400, "Give an example for every variable of the template.")
    TEMPLATE_ALREADY_EXISTS = (409, "The project already has a template of this name.")
    TEMPLATE_LIMIT_EXCEEDED = (409, "The project has as many templates as it may have.")
    TEMPLATE_VERSION_NOT_FOUND = (404, "The template has no such version.")
    TEMPLATE_STATE_CONFLICT = (409, "The version is not in a state that allows this.")
    NO_APPROVED_VERSION = (400, "The template has no approved version.")
    MESSAGE_NOT_FOUND = (404, "There is no such message.")
    MESSAGE_NOT_CANCELABLE = (409, "Only a message that certainly was not sent can be canceled.")
    MESSAGE_NOT_REPROCESSABLE = (409, "Only a message that failed can be sent again in a new round.")
    CONTENT_FORGOTTEN = (409, "The content of the message is no longer kept, so it cannot be sent again.")
    ERASURE_NOT_FOUND = (404, "There is no such erasure.")
    CURSOR_INVALID = (400, "The cursor is not one of this listing; start again without it.")
    INVALID_DATE_RANGE = (400, "The period is not valid.")
    TIMEZONE_INVALID = (400, "`tz` must be an IANA time zone like America/Sao_Paulo.")
    TENANT_NOT_FOUND = (404, "There is no such tenant.")
    PROJECT_NOT_FOUND = (404, "There is no such project.")
    NUMBER_NOT_FOUND = (404, "There is no such number.")
    PHONE_INVALID = (400, "The phone number is not valid.")
    NUMBER_SCOPE_NOT_ALLOWED = (403, "A key of one number cannot do this; use a tenant key.")
    NUMBER_ALREADY_EXISTS = (409, "The tenant already has this number.")
    NUMBER_SOFT_DELETED = (409, "The number was deleted and can be restored; purge it before creating it again.")
    NUMBER_ALREADY_ACTIVE = (409, "The number is not deleted.")
    NUMBER_ALREADY_CONNECTED = (409, "The number is already connected.")
    WHATSAPP_INSTANCE_NOT_CONNECTED = (409, "The number is not connected to WhatsApp.")
    PII_RETENTION_INVALID = (400, "STORE_X_DAYS needs `piiRetentionDays` from 1 to 3650.")
    EMPTY_PATCH = (400, "Nothing to change was given.")
    PROVIDER_NOT_CONFIGURED = (503, "No WhatsApp gateway is configured for this; an operator has to act.")
    UPSTREAM_TIMEOUT = (503, "The WhatsApp gateway did not answer in time; try again.")
    UPSTREAM_ERROR = (503, "The WhatsApp gateway could not do this now; try again.")
    NOT_IMPLEMENTED = (404, "This is not part of the platform yet.")
    NUMBER_NOT_OPEN = (409, "The sending number is not connected.")
    WEBHOOK_URL_REFUSED = (400, "The webhook's URL cannot be called.")
    UNKNOWN_EVENT = (400, "There is no such event.")
    WEBHOOK_ALREADY_EXISTS = (409, "The number already has a webhook with this URL.")
    WEBHOOK_INACTIVE = (409, "The webhook is switched off; switch it on first.")
    WEBHOOK_DELIVERY_NOT_FOUND = (404, "There is no such delivery, or it is too old.")
    WEBHOOK_DELIVERY_UNDER_WAY = (409, "The delivery is being attempted at this moment.")
    WEBHOOK_REPLAYED_TOO_OFTEN = (409, "The delivery was attempted so often that it is not replayed again.")
    WEBHOOK_BODY_ERASED = (409, "What was sent is no longer kept, so it cannot be replayed.")
    TOO_MANY_WEBHOOKS = (409, "The number has as many webhooks as it may have.")
    ENDPOINT_REJECTED = (400, "The webhook endpoint cannot be used.")
    ALREADY_EXISTS = (409, "It already exists.")
    DEFAULT_NUMBER_NOT_CONFIGURED = (500, "The key has no number and the platform has no default number.")
    DEAD_LETTER_NOT_FOUND = (404, "There is no such dead letter.")
    DEAD_LETTER_KEPT = (409, "The dead letter stays as it is.")
    OWNER_UNAVAILABLE = (503, "The service that owns this did not answer in time; try again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A limit that was reached: `limit` a window of `window_seconds`, free again in `reset_seconds`."""

    name: str
    limit: int
    window_seconds: int
    reset_seconds: int


class RefusedError(Exception):
    """Declined; `field` names the offending field, `sentence` never repeats input.

    `extras` are further members of the answer; `quota` becomes its Retry-After and RateLimit headers.
    """

    def __init__(
        self,
        refusal: Refusal,
        sentence: str | None = None,
        *,
        field: str | None = None,
        extras: Mapping[str, Any] | None = None,
        quota: Quota | None = None,
    ) -> None:
        super().__init__(refusal.name)
        self.refusal, self.sentence, self.field = refusal, sentence or refusal.value[1], field
        self.extras, self.quota = dict(extras or {}), quota

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.refusal.value[0]

    def members(self) -> dict[str, Any]:
        """What the answer holds beyond sentence and code."""
        details = {"details": [{"field": self.field, "message": self.sentence}]} if self.field else {}
        return {**self.extras, **details}
