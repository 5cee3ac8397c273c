"""What a message waits for at this moment, and when that is expected to end."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts.dispatch_questions import JobExplained, LaneCondition, MessageExplained
from contracts.status import Status
from contracts.values import ConnectionState


class WaitingFor(StrEnum):
    """The closed set of things a message can wait for."""

    DISPATCHER = "DISPATCHER"
    DELIVERY_TIME = "DELIVERY_TIME"
    RETRY_TIME = "RETRY_TIME"
    TURN = "TURN"
    NUMBER_CONNECTION = "NUMBER_CONNECTION"
    NUMBER_RESUMED = "NUMBER_RESUMED"
    GATEWAY_ANSWER = "GATEWAY_ANSWER"
    PROOF = "PROOF"
    NEWS = "NEWS"
    SENT_RECEIPT = "SENT_RECEIPT"
    DELIVERED_RECEIPT = "DELIVERED_RECEIPT"


SENTENCES = {
    WaitingFor.DISPATCHER: "It is on its way to the part of the platform that sends.",
    WaitingFor.DELIVERY_TIME: "It waits for its delivery time.",
    WaitingFor.RETRY_TIME: "The last attempt was certainly not sent; it waits for the next one.",
    WaitingFor.TURN: "It waits for its turn on the number.",
    WaitingFor.NUMBER_CONNECTION: "It waits until the number is connected to WhatsApp again.",
    WaitingFor.NUMBER_RESUMED: "It waits until sending from the number is resumed.",
    WaitingFor.GATEWAY_ANSWER: "It is being handed to the gateway right now.",
    WaitingFor.PROOF: "The gateway's answer was lost; proof is sought before anything else is done.",
    WaitingFor.NEWS: "Its sending has ended; the news is about to arrive.",
    WaitingFor.SENT_RECEIPT: "The gateway took it; it waits for WhatsApp's confirmation.",
    WaitingFor.DELIVERED_RECEIPT: "WhatsApp has sent it; it waits for the recipient's device.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """`until` is when it ends at the latest or at the earliest, by kind; `expected_at` when it is thought to leave."""

    what: WaitingFor
    until: datetime | None = None
    expected_at: datetime | None = None
    ahead: int | None = None
    lane: LaneCondition | None = None

    @property
    def sentence(self) -> str:
        """For people."""
        return SENTENCES[self.what]


def is_asked_about(status: Status) -> bool:
    """Whether only the dispatcher knows what the message waits for."""
    return status is Status.QUEUED


def waiting_for_receipt(status: Status) -> Waiting | None:
    """What a message that was handed over waits for; None once nothing more is owed."""
    match status:
        case Status.DISPATCHED:
            return Waiting(what=WaitingFor.SENT_RECEIPT)
        case Status.SENT:
            return Waiting(what=WaitingFor.DELIVERED_RECEIPT)
        case _:
            return None


def waiting_of(explained: MessageExplained) -> Waiting:
    """What the dispatcher's answer means."""
    job, lane = explained.job, explained.lane
    if job is None:
        return Waiting(what=WaitingFor.DISPATCHER, lane=lane)
    what, until = _kind(job, lane)
    ahead = job.ahead if what is WaitingFor.TURN else None
    return Waiting(what=what, until=until, expected_at=job.expected_at, ahead=ahead, lane=lane)


def _kind(job: JobExplained, lane: LaneCondition | None) -> tuple[WaitingFor, datetime | None]:
    match job.state:
        case "SCHEDULED":
            return (WaitingFor.RETRY_TIME if job.attempt else WaitingFor.DELIVERY_TIME), job.due_at
        case "READY" if lane is not None and lane.paused:
            return WaitingFor.NUMBER_RESUMED, job.deliver_until
        case "READY" if lane is None or lane.state is not ConnectionState.OPEN:
            return WaitingFor.NUMBER_CONNECTION, job.deliver_until
        case "READY":
            return WaitingFor.TURN, job.deliver_until
        case "IN_FLIGHT":
            return WaitingFor.GATEWAY_ANSWER, None
        case "UNCERTAIN":
            return WaitingFor.PROOF, job.resolve_by
        case _:
            return WaitingFor.NEWS, None
