"""Why an attempt failed, and why an endpoint is off: closed sets, and the sentence for each that its owner reads."""

from enum import StrEnum


class Problem(StrEnum):
    """Why an attempt failed; the closed set of the delivery log and the metrics."""

    STATUS = "STATUS"
    REDIRECT = "REDIRECT"
    GONE = "GONE"
    TIMEOUT = "TIMEOUT"
    NAME_NOT_RESOLVED = "NAME_NOT_RESOLVED"
    FORBIDDEN_TARGET = "FORBIDDEN_TARGET"
    CONNECT_FAILED = "CONNECT_FAILED"
    TLS_FAILED = "TLS_FAILED"
    CONNECTION_LOST = "CONNECTION_LOST"
    INTERRUPTED = "INTERRUPTED"
    UNREADABLE = "UNREADABLE"


HINTS = {
    Problem.STATUS: "The endpoint answered with a status other than 2xx.",
    Problem.REDIRECT: "The endpoint redirects, and redirects are not followed: use the final URL.",
    Problem.GONE: "The endpoint answered 410, so it was switched off.",
    Problem.TIMEOUT: "The endpoint did not answer in time: answer first, work afterwards.",
    Problem.NAME_NOT_RESOLVED: "The host name cannot be resolved.",
    Problem.FORBIDDEN_TARGET: "The URL leads to an address that webhooks may not be sent to.",
    Problem.CONNECT_FAILED: "No connection could be made.",
    Problem.TLS_FAILED: "No secure connection could be made: check the certificate.",
    Problem.CONNECTION_LOST: "The connection ended before there was a complete answer.",
    Problem.INTERRUPTED: "Our own process ended during the attempt; it may have reached the endpoint.",
    Problem.UNREADABLE: "The stored delivery cannot be opened with the keys at hand.",
}
"""One sentence per problem, for the customer."""

SWITCHED_OFF = "CUSTOMER"
"""The reason of an endpoint that was switched off by hand."""
_BY_HAND = "It was switched off by hand."
_WORN_OUT = "It was switched off after five days without one success. Last: "


def hint_of(problem: str | None) -> str | None:
    """The sentence for a problem as it is stored, None if there was none."""
    return HINTS[Problem(problem)] if problem is not None else None


def why_off(reason: str | None) -> str | None:
    """The sentence for the reason why an endpoint is off, None for one that is on."""
    match reason:
        case None:
            return None
        case "CUSTOMER":
            return _BY_HAND
        case Problem.GONE.value:
            return HINTS[Problem.GONE]
        case _:
            return _WORN_OUT + HINTS[Problem(reason)]
