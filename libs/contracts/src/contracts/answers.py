"""How an answer travels: a reply carries no routing of its own, so its body names the statement it holds."""

import json

from pydantic import BaseModel, ConfigDict, ValidationError

from contracts.registry import UnreadableError, decode
from contracts.statement import Statement


class _Envelope(BaseModel):
    """`type` is the statement's TYPE, `answer` its body."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str
    answer: dict[str, object]


def answer_body(answer: Statement) -> bytes:
    """The reply's body for `answer`."""
    return b'{"type":%b,"answer":%b}' % (json.dumps(answer.TYPE).encode(), answer.body())


def read_answer(body: bytes) -> Statement:
    """The statement in a reply's body; raises `UnreadableError`."""
    try:
        envelope = _Envelope.model_validate_json(body)
    except ValidationError:
        raise UnreadableError("not an answer") from None
    return decode(envelope.type, json.dumps(envelope.answer).encode())
