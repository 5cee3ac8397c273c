"""The closed set of reasons why the api declines a request, each with its HTTP status and one sentence."""

from enum import Enum


class Refusal(Enum):
    """`name` is the public code; the value is (HTTP status, sentence). Where raised, a sentence may be more exact."""

    API_KEY_INVALID = (401, "The API key is missing, unknown or revoked.")
    OPERATOR_KEY_INVALID = (401, "The operator key is missing or wrong.")
    PRODUCTION_NOT_APPROVED = (403, "The project is not approved for production, so its LIVE keys cannot send.")
    TEMPLATE_NOT_APPROVED_FOR_PRODUCTION = (403, "The template is not approved for production.")
    DESTINATION_INVALID = (400, "The destination is not a valid phone number.")
    MODE_INVALID = (400, "Give either `templateId` or `text`.")
    MODE_NOT_SUPPORTED = (400, "This kind of message is not supported yet.")
    TEXT_INVALID = (400, "The text is empty, too long or not valid Unicode.")
    SCHEDULE_INVALID = (400, "The delivery window is not valid.")
    MISSING_TEMPLATE_VARIABLES = (400, "Template variables are missing.")
    TEMPLATE_NOT_FOUND = (404, "There is no such template.")
    NO_APPROVED_VERSION = (400, "The template has no approved version.")
    MESSAGE_NOT_FOUND = (404, "There is no such message.")
    TENANT_NOT_FOUND = (404, "There is no such tenant.")
    PROJECT_NOT_FOUND = (404, "There is no such project.")
    NUMBER_NOT_FOUND = (404, "There is no such number.")
    NUMBER_NOT_OPEN = (409, "The sending number is not connected.")
    ENDPOINT_REJECTED = (400, "The webhook endpoint cannot be used.")
    ALREADY_EXISTS = (409, "It already exists.")
    DEFAULT_NUMBER_NOT_CONFIGURED = (500, "The key has no number and the platform has no default number.")
    OWNER_UNAVAILABLE = (503, "The service that owns this did not answer in time; try again.")


class RefusedError(Exception):
    """Declined; `field` names the offending field, `sentence` never repeats input."""

    def __init__(self, refusal: Refusal, sentence: str | None = None, *, field: str | None = None) -> None:
        super().__init__(refusal.name)
        self.refusal, self.sentence, self.field = refusal, sentence or refusal.value[1], field
