"""The closed set of reasons a message can fail for."""

from enum import StrEnum


class ErrorCode(StrEnum):
    """Public `errorCode` of a FAILED message."""

    EXPIRED_AFTER_ATTEMPTS = "EXPIRED_AFTER_ATTEMPTS"
    MESSAGE_EXPIRED = "MESSAGE_EXPIRED"
    DELIVERY_TIMEOUT = "DELIVERY_TIMEOUT"
    NEVER_ATTEMPTED_MAX_AGE_EXCEEDED = "NEVER_ATTEMPTED_MAX_AGE_EXCEEDED"
    DELIVERED_NOT_CONFIRMED = "DELIVERED_NOT_CONFIRMED"
    WHATSAPP_NOT_EXIST = "WHATSAPP_NOT_EXIST"
    INVALID_DESTINATION = "INVALID_DESTINATION"
    TEMPLATE_VERSION_NOT_FOUND = "TEMPLATE_VERSION_NOT_FOUND"
    NUMBER_NOT_FOUND_REMOVED = "NUMBER_NOT_FOUND_REMOVED"
    LINKED_WHATSAPP_INSTANCE_NOT_FOUND = "LINKED_WHATSAPP_INSTANCE_NOT_FOUND"
    PILOT_SELF_NUMBER = "PILOT_SELF_NUMBER"
    GATEWAY_REFUSED = "GATEWAY_REFUSED"
    GATEWAY_AUTH_FAILED = "GATEWAY_AUTH_FAILED"
    GATEWAY_REPORTED_ERROR = "GATEWAY_REPORTED_ERROR"
    UNCONFIRMED = "UNCONFIRMED"
    DUPLICATE_SUPPRESSED = "DUPLICATE_SUPPRESSED"
    RECIPIENT_OPTED_OUT = "RECIPIENT_OPTED_OUT"


SENTENCES = {
    ErrorCode.EXPIRED_AFTER_ATTEMPTS: "The delivery window closed after at least one attempt.",
    ErrorCode.MESSAGE_EXPIRED: "The delivery window closed before the message could be sent.",
    ErrorCode.DELIVERY_TIMEOUT: "The message fell due while nobody worked its number and was not sent late.",
    ErrorCode.NEVER_ATTEMPTED_MAX_AGE_EXCEEDED: "No attempt was made within the maximum age.",
    ErrorCode.DELIVERED_NOT_CONFIRMED: "The message was sent but its delivery was never confirmed.",
    ErrorCode.WHATSAPP_NOT_EXIST: "The recipient has no WhatsApp account.",
    ErrorCode.INVALID_DESTINATION: "The destination is not a valid number.",
    ErrorCode.TEMPLATE_VERSION_NOT_FOUND: "The template version no longer exists.",
    ErrorCode.NUMBER_NOT_FOUND_REMOVED: "The sending number was removed.",
    ErrorCode.LINKED_WHATSAPP_INSTANCE_NOT_FOUND: "The gateway does not know the sending number's instance.",
    ErrorCode.PILOT_SELF_NUMBER: "A number cannot send to itself.",
    ErrorCode.GATEWAY_REFUSED: "The gateway refused the message.",
    ErrorCode.GATEWAY_AUTH_FAILED: "The gateway refused the credentials of the sending number.",
    ErrorCode.GATEWAY_REPORTED_ERROR: "WhatsApp reported an error after the message was handed over.",
    ErrorCode.UNCONFIRMED: "It could not be established whether the message was sent, so it was not sent again.",
    ErrorCode.DUPLICATE_SUPPRESSED: "The same text was just sent to this recipient.",
    ErrorCode.RECIPIENT_OPTED_OUT: "The recipient has opted out.",
}
"""One public sentence per code."""
