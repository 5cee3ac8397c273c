"""Which refusals each route may answer with: what a client has to be prepared for."""

from collections.abc import Mapping
from typing import Final

from api.refusals import Refusal as R

Codes = tuple[R, ...]

_MESSAGES: Final[Codes] = (R.TENANT_SCOPE_NOT_ALLOWED, R.NUMBER_NOT_FOUND)
_SENDING: Final[Codes] = (
    R.DEFAULT_NUMBER_NOT_CONFIGURED,
    R.NUMBER_NOT_FOUND,
    R.NUMBER_NOT_OPEN,
    R.TENANT_SCOPE_NOT_ALLOWED,
    R.PRODUCTION_NOT_APPROVED,
    R.MODE_INVALID,
    R.MODE_NOT_SUPPORTED,
    R.DESTINATION_INVALID,
    R.PILOT_SELF_NUMBER,
    R.TEST_DESTINATION_NOT_ALLOWED,
    R.TEMPLATE_NOT_FOUND,
    R.TEMPLATE_PROJECT_MISMATCH,
    R.TEMPLATE_ENVIRONMENT_MISMATCH,
    R.TEMPLATE_NOT_APPROVED_FOR_PRODUCTION,
    R.TEMPLATE_INVALID,
    R.NO_APPROVED_VERSION,
    R.MISSING_TEMPLATE_VARIABLES,
    R.VARIABLE_INVALID,
    R.CONTENT_INVALID,
    R.TEXT_INVALID,
    R.MARKETING_NEEDS_OWN_NUMBER,
    R.SUBSCRIPTION_REQUIRED_FOR_MEDIA,
    R.SCHEDULE_INVALID,
    R.IDEMPOTENCY_KEY_INVALID,
    R.IDEMPOTENCY_KEY_REUSED,
    R.IDEMPOTENCY_KEY_IN_USE,
    R.OPT_IN_REQUIRED,
    R.TEST_DAILY_LIMIT_EXCEEDED,
    R.LIVE_DAILY_LIMIT_EXCEEDED,
    R.LIVE_MONTHLY_LIMIT_EXCEEDED,
)
_GATEWAY: Final[Codes] = (R.PROVIDER_NOT_CONFIGURED, R.UPSTREAM_TIMEOUT, R.UPSTREAM_ERROR)
_NUMBER: Final[Codes] = (R.NUMBER_NOT_FOUND,)
_OWN_NUMBER: Final[Codes] = (R.NUMBER_NOT_FOUND, R.NUMBER_SCOPE_NOT_ALLOWED)
_OPT_IN: Final[Codes] = (R.TENANT_SCOPE_NOT_ALLOWED, R.DESTINATION_INVALID)
_TEMPLATE: Final[Codes] = (R.TENANT_SCOPE_NOT_ALLOWED, R.TEMPLATE_NOT_FOUND)
_WRITTEN: Final[Codes] = (R.TENANT_SCOPE_NOT_ALLOWED, R.TEMPLATE_INVALID, R.TEXT_INVALID, R.CONTENT_INVALID)
_WEBHOOKS: Final[Codes] = (
    R.DEFAULT_NUMBER_NOT_CONFIGURED,
    R.NUMBER_NOT_FOUND,
    R.OWNER_UNAVAILABLE,
    R.ENDPOINT_REJECTED,
)
_WEBHOOK: Final[Codes] = (*_WEBHOOKS, R.WEBHOOK_NOT_FOUND)
_WEBHOOK_WRITTEN: Final[Codes] = (R.WEBHOOK_URL_REFUSED, R.UNKNOWN_EVENT, R.WEBHOOK_ALREADY_EXISTS)
_REPLAYED: Final[Codes] = (
    R.WEBHOOK_INACTIVE,
    R.WEBHOOK_DELIVERY_NOT_FOUND,
    R.WEBHOOK_DELIVERY_UNDER_WAY,
    R.WEBHOOK_REPLAYED_TOO_OFTEN,
    R.WEBHOOK_BODY_ERASED,
)

REFUSALS: Final[Mapping[str, Codes]] = {
    "POST /v1/messages/send": _SENDING,
    "POST /v1/messages/batch": (R.TENANT_SCOPE_NOT_ALLOWED, R.PRODUCTION_NOT_APPROVED),
    "DELETE /v1/messages/cancel": (R.TENANT_SCOPE_NOT_ALLOWED, R.OWNER_UNAVAILABLE),
    "GET /v1/messages": (*_MESSAGES, R.CURSOR_INVALID, R.INVALID_DATE_RANGE, R.DESTINATION_INVALID),
    "GET /v1/messages/history": (*_MESSAGES, R.INVALID_DATE_RANGE),
    "GET /v1/messages/{reference}": (*_MESSAGES, R.MESSAGE_NOT_FOUND),
    "GET /v1/messages/{reference}/timeline": (*_MESSAGES, R.MESSAGE_NOT_FOUND),
    "GET /v1/messages/opt-in": _OPT_IN,
    "POST /v1/opt-ins": _OPT_IN,
    "DELETE /v1/opt-ins": (*_OPT_IN, R.OPT_IN_NOT_FOUND),
    "GET /v1/analytics/dashboard": (R.TENANT_SCOPE_NOT_ALLOWED, R.NUMBER_NOT_FOUND, R.TIMEZONE_INVALID),
    "POST /v1/api-keys": _OWN_NUMBER,
    "POST /v1/numbers": (
        R.PHONE_INVALID,
        R.NUMBER_ALREADY_EXISTS,
        R.NUMBER_SOFT_DELETED,
        R.ALREADY_EXISTS,
        *_GATEWAY,
    ),
    "GET /v1/numbers/{number_id}": _NUMBER,
    "PATCH /v1/numbers/{number_id}": (*_OWN_NUMBER, R.EMPTY_PATCH, R.PII_RETENTION_INVALID),
    "DELETE /v1/numbers/{number_id}": _OWN_NUMBER,
    "GET /v1/numbers/{number_id}/connect": (*_NUMBER, R.NUMBER_ALREADY_CONNECTED, R.NOT_IMPLEMENTED, *_GATEWAY),
    "GET /v1/numbers/{number_id}/status": (*_NUMBER, R.NOT_IMPLEMENTED, *_GATEWAY),
    "POST /v1/numbers/{number_id}/restore": (*_OWN_NUMBER, R.NUMBER_ALREADY_ACTIVE),
    "DELETE /v1/numbers/{number_id}/purge": _OWN_NUMBER,
    "POST /v1/numbers/{number_id}/pay": _OWN_NUMBER,
    "GET /v1/groups": (R.TENANT_SCOPE_NOT_ALLOWED, R.WHATSAPP_INSTANCE_NOT_CONNECTED, *_GATEWAY),
    "POST /v1/projects": (R.ALREADY_EXISTS,),
    "GET /v1/templates": (R.TENANT_SCOPE_NOT_ALLOWED,),
    "POST /v1/templates": (
        *_WRITTEN,
        R.TEMPLATE_EXAMPLES_REQUIRED,
        R.TEMPLATE_ALREADY_EXISTS,
        R.TEMPLATE_LIMIT_EXCEEDED,
    ),
    "GET /v1/templates/{reference}": _TEMPLATE,
    "PUT /v1/templates/{reference}": (
        *_WRITTEN,
        R.TEMPLATE_NOT_FOUND,
        R.TEMPLATE_EXAMPLES_REQUIRED,
        R.TEMPLATE_STATE_CONFLICT,
        R.TEMPLATE_LIMIT_EXCEEDED,
    ),
    "DELETE /v1/templates/{reference}": _TEMPLATE,
    "POST /v1/templates/{reference}/versions": (
        *_WRITTEN,
        R.TEMPLATE_NOT_FOUND,
        R.TEMPLATE_EXAMPLES_REQUIRED,
        R.TEMPLATE_STATE_CONFLICT,
        R.TEMPLATE_LIMIT_EXCEEDED,
    ),
    "POST /v1/templates/{reference}/submit": (
        *_TEMPLATE,
        R.TEMPLATE_EXAMPLES_REQUIRED,
        R.TEMPLATE_VERSION_NOT_FOUND,
        R.TEMPLATE_STATE_CONFLICT,
    ),
    "GET /v1/webhooks": _WEBHOOKS,
    "POST /v1/webhooks": (
        *_WEBHOOKS,
        *_WEBHOOK_WRITTEN,
        R.NUMBER_REQUIRED,
        R.NUMBER_MISMATCH,
        R.TOO_MANY_WEBHOOKS,
    ),
    "GET /v1/webhooks/{webhook_id}": _WEBHOOK,
    "PATCH /v1/webhooks/{webhook_id}": (*_WEBHOOK, *_WEBHOOK_WRITTEN, R.EMPTY_PATCH),
    "DELETE /v1/webhooks/{webhook_id}": _WEBHOOK,
    "GET /v1/webhooks/{webhook_id}/logs": (*_WEBHOOK, R.UNKNOWN_EVENT),
    "POST /v1/webhooks/{webhook_id}/rotate-secret": _WEBHOOK,
    "POST /v1/webhooks/{webhook_id}/test": (*_WEBHOOK, R.WEBHOOK_INACTIVE),
    "GET /v1/webhooks/{webhook_id}/deliveries": _WEBHOOK,
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay": (*_WEBHOOK, *_REPLAYED),
    "POST /v1/webhooks/{webhook_id}/replay": (*_WEBHOOK, R.WEBHOOK_INACTIVE, R.INVALID_DATE_RANGE),
}
"""Of clients' routes, beyond what every route of theirs answers. A route that is not named has nothing beyond."""

_ADMIN_THINGS: Final[Mapping[str, Codes]] = {
    "tenants": (R.TENANT_NOT_FOUND, R.PLAN_NOT_FOUND),
    "projects": (R.PROJECT_NOT_FOUND, R.TENANT_NOT_FOUND, R.ALREADY_EXISTS),
    "plans": (R.PLAN_NOT_FOUND, R.PLAN_IN_USE, R.ALREADY_EXISTS),
    "packages": (R.PACKAGE_NOT_FOUND, R.TENANT_NOT_FOUND),
    "profiles": (R.PROFILE_NOT_FOUND, R.TENANT_NOT_FOUND, R.ALREADY_EXISTS, R.DESTINATION_INVALID),
    "opt-ins": (R.OPT_IN_NOT_FOUND, R.PROJECT_NOT_FOUND, R.DESTINATION_INVALID),
    "keys": (R.KEY_NOT_FOUND, R.PROJECT_NOT_FOUND, R.NUMBER_NOT_FOUND, R.KEY_SCOPE_INVALID),
    "numbers": (R.NUMBER_NOT_FOUND, R.TENANT_NOT_FOUND, R.ALREADY_EXISTS, R.NUMBER_BELONGS_TO_TENANT),
    "templates": (
        R.TEMPLATE_NOT_FOUND,
        R.PROJECT_NOT_FOUND,
        R.ALREADY_EXISTS,
        R.TEMPLATE_INVALID,
        R.TEXT_INVALID,
        R.CONTENT_INVALID,
        R.TEMPLATE_STATE_CONFLICT,
        R.TEMPLATE_VERSION_NOT_FOUND,
        R.NO_APPROVED_VERSION,
    ),
    "messages": (R.MESSAGE_NOT_FOUND,),
    "webhooks": (R.WEBHOOK_NOT_FOUND, R.ENDPOINT_REJECTED, *_REPLAYED, R.INVALID_DATE_RANGE),
    "recipients": (R.ERASURE_NOT_FOUND, R.TENANT_NOT_FOUND, R.DESTINATION_INVALID),
    "operators": (R.OPERATOR_NOT_FOUND,),
    "audit": (),
    "dead-letters": (R.DEAD_LETTER_NOT_FOUND, R.DEAD_LETTER_KEPT),
    "reconciliation": (R.INVALID_DATE_RANGE,),
}
_ADMIN_VERBS: Final[Mapping[str, Codes]] = {
    "lane": (R.OWNER_UNAVAILABLE,),
    "status": (R.PROVIDER_NOT_CONFIGURED,),
    "cancel": (R.MESSAGE_NOT_CANCELABLE, R.OWNER_UNAVAILABLE),
    "reprocess": (R.MESSAGE_NOT_REPROCESSABLE, R.CONTENT_FORGOTTEN, R.OPT_IN_REQUIRED),
}
"""Of the last word of a path, beyond what its thing answers."""
_ASKING: Final = frozenset({"webhooks", "dead-letters", "reconciliation"})
"""What belongs to another service, which may be silent."""


def refusals_of(operation: str) -> Codes:
    """What the route may refuse with, in one order."""
    method, path = operation.split(" ")
    if not path.startswith("/v1/admin/"):
        return (*REFUSALS.get(operation, ()), R.API_KEY_INVALID, R.RATE_LIMITED)
    common: Codes = (R.OPERATOR_KEY_INVALID,)
    if method != "GET":
        common = (*common, R.OPERATOR_ROLE_NOT_ALLOWED)
    if method == "PATCH":
        common = (*common, R.EMPTY_PATCH)
    common = (*common, *_ADMIN_VERBS.get(path.rsplit("/", 1)[1], ()))
    if path.split("/")[3] in _ASKING:
        common = (*common, R.OWNER_UNAVAILABLE)
    things = _ADMIN_THINGS[path.split("/")[3]]
    if path.endswith("/reconciliation"):
        return (*things, *common)
    if "{" not in path and method == "GET":
        return common
    if method == "GET":
        things = tuple(code for code in things if int(code.value[0]) == 404)
    return (*things, *common)
