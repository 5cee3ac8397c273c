"""Every step of a message in a sentence that a person understands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from api.messages.domain.details import Step, StoredMessage
from contracts.errors import SENTENCES, ErrorCode
from contracts.facts.messages import DeferReason, Proof
from contracts.status import Status

Detail = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A step with its reason code and a sentence."""

    at: datetime
    what: str
    round: int
    code: str
    sentence: str
    detail: Detail


def explain(message: StoredMessage, steps: list[Step]) -> list[Explained]:
    """From the acceptance on, in the order of time."""
    later = message.deliver_by > message.accepted_at
    sentence = f"Accepted, to be sent from {_clock(message.deliver_by)} on." if later else "Accepted, due at once."
    if message.ref.round > 1:
        sentence = "Accepted."
    accepted = Explained(
        at=message.accepted_at, what="accepted", round=1, code="ACCEPTED", sentence=sentence, detail={}
    )
    return [accepted, *(_explained(step) for step in steps)]


def _explained(step: Step) -> Explained:
    code, sentence = _READERS.get(step.what, _unknown)(step.detail)
    return Explained(at=step.at, what=step.what, round=step.round, code=code, sentence=sentence, detail=step.detail)


def _deferred(detail: Detail) -> tuple[str, str]:
    code, until, attempt = str(detail.get("reason", "")), detail.get("next_attempt_at"), detail.get("attempt")
    from_then = f" until {_clock(until)}" if until else ""
    sentences: dict[str, str] = {
        DeferReason.NOT_DUE: f"Waits for its time{from_then}.",
        DeferReason.RETRY: f"Attempt {attempt} was certainly not sent; it waits{from_then} to be retried.",
        DeferReason.PACED: "Waits for its turn: the number sends at a human pace.",
        DeferReason.NUMBER_CLOSED: "Waits because the number is not connected to WhatsApp.",
        DeferReason.PAUSED: "Waits because sending from the number is paused.",
    }
    return code, sentences.get(code, "Waits.")


def _uncertain(detail: Detail) -> tuple[str, str]:
    until = detail.get("resolve_by")
    return str(detail.get("reason", "")), (
        f"Attempt {detail.get('attempt')} got no clear answer; proof is sought until {_clock(until)}, "
        "and it is not sent again on a guess."
    )


def _dispatched(detail: Detail) -> tuple[str, str]:
    sentences: dict[str, str] = {
        Proof.RESPONSE: f"Attempt {detail.get('attempt')}: the gateway took the message.",
        Proof.ECHO: "The number was seen sending the message, although its answer was lost.",
        Proof.LOOKUP: "The message was found among those the number has sent, although its answer was lost.",
        Proof.RECEIPT: "A receipt proves that the message was sent, although its answer was lost.",
    }
    return "DISPATCHED", sentences.get(str(detail.get("proof", "")), "The gateway took the message.")


def _receipt(detail: Detail) -> tuple[str, str]:
    code = str(detail.get("status", ""))
    sentences: dict[str, str] = {
        Status.SENT: "WhatsApp confirmed that the message was sent.",
        Status.DELIVERED: "The message reached the recipient's device.",
        Status.READ: "The recipient has read the message.",
        Status.FAILED: SENTENCES[ErrorCode.GATEWAY_REPORTED_ERROR],
    }
    return code, sentences.get(code, "A receipt arrived.")


def _failed(detail: Detail) -> tuple[str, str]:
    code = str(detail.get("code", ""))
    known = code in ErrorCode.__members__
    return code, SENTENCES[ErrorCode(code)] if known else "The message was not sent."


def _reprocessed(detail: Detail) -> tuple[str, str]:
    possible = " An earlier round may have been sent." if detail.get("duplicate_possible") else ""
    return "REPROCESSED", f"An operator had it sent again, until {_clock(detail.get('deliver_until'))}.{possible}"


def _canceled(_: Detail) -> tuple[str, str]:
    return "CANCELED", "Canceled before any call to the gateway; it will never be sent."


def _webhook(code: str, sentence: str) -> Callable[[Detail], tuple[str, str]]:
    return lambda detail: (code, sentence.format(event=detail.get("event"), attempts=detail.get("attempts")))


def _unknown(_: Detail) -> tuple[str, str]:
    return "", "Something happened that this version has no words for."


_READERS: Mapping[str, Callable[[Detail], tuple[str, str]]] = {
    "deferred": _deferred,
    "uncertain": _uncertain,
    "dispatched": _dispatched,
    "receipt": _receipt,
    "dispatch_failed": _failed,
    "lost": _failed,
    "canceled": _canceled,
    "reprocessed": _reprocessed,
    "webhook_delivered": _webhook("WEBHOOK_DELIVERED", "Your webhook took `{event}` at attempt {attempts}."),
    "webhook_exhausted": _webhook("WEBHOOK_EXHAUSTED", "Your webhook did not take `{event}` in {attempts} attempts."),
}


def _clock(at: object) -> str:
    instant = datetime.fromisoformat(at) if isinstance(at, str) else at
    return instant.strftime("%Y-%m-%d %H:%M:%S UTC") if isinstance(instant, datetime) else "later"
