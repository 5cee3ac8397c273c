"""Every event that customers are sent, from the real builders of the bodies, held against the official SDK's parser."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from pilot_status import parse_customer_webhook

from contracts.errors import ErrorCode
from contracts.facts import MessageStatusChanged
from contracts.parts import Media, MediaType
from contracts.questions import Endpoint
from contracts.registry import decode
from contracts.status import Status
from contracts.values import Category, Environment, MessageContent, MessageRef, NumberProfile
from notifier.domain.endpoints import EVENT_OF, KNOWN_EVENTS
from notifier.domain.numbers import News, Number, NumberEvent, body_of_number
from notifier.domain.payload import body_of
from notifier.domain.trial import TRIAL_EVENT, trial_body

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
REF = MessageRef(
    message_id=UUID(int=1),
    tenant_id=UUID(int=2),
    project_id=UUID(int=3),
    number_id=UUID(int=4),
    instance="acme",
    environment=Environment.LIVE,
    category=Category.OTP,
    correlation_id="order-1",
)
CAPTIONED = (MediaType.IMAGE, MediaType.VIDEO, MediaType.DOCUMENT)
CONTENTS = [
    None,
    MessageContent(to="5511912345678", text="Olá"),
    MessageContent(to="5511912345678", text="x", sender="551130001000"),
    *(
        MessageContent(
            to="5511912345678",
            text="x" if kind in CAPTIONED else "",
            part=Media(media_type=kind, media="https://example.com/a"),
        )
        for kind in MediaType
    ),
]
DOCUMENTED = {
    *("numberId", "id", "createdAt", "to", "from", "fromMe", "messageId", "type", "correlationId", "status", "version"),
    *("content", "mediaType", "mediaCaption", "mediaFilename", "error", "errorCode", "errorMessage"),
}


def fact(status: Status, *, code: ErrorCode | None = None, key_id: str | None = "3EB0") -> MessageStatusChanged:
    return MessageStatusChanged(
        ref=REF,
        previous=Status.QUEUED,
        status=status,
        changed_at=AT,
        version=2,
        key_id=key_id,
        error_code=code,
        accepted_at=AT,
    )


def message_bodies() -> Iterator[tuple[str, bytes]]:
    for status, content, key_id in product(EVENT_OF, CONTENTS, ("3EB0", None)):
        codes = [None, *ErrorCode] if status is Status.FAILED else [None]
        for code in codes:
            event = EVENT_OF[status]
            yield event, body_of(fact(status, code=code, key_id=key_id), event, content)


def number_bodies() -> Iterator[tuple[str, bytes]]:
    number = Number(number_id=UUID(int=4), instance="acme", tenant_id=UUID(int=2), news=3)
    profiles = [None, NumberProfile(display_name="Balcão"), NumberProfile(display_name="x", phone="551130001000")]
    for event, profile in product(NumberEvent, profiles):
        yield event.value, body_of_number(News(event=event, number=number, at=AT, sealed_profile=None), profile)


def test_the_sdk_reads_every_event_we_send() -> None:
    seen = set()
    for event, body in (*message_bodies(), *number_bodies()):
        parsed: Any = parse_customer_webhook(json.loads(body), unknown_events="raise")
        assert parsed["event"] == event
        seen.add(event)
    assert seen == {*EVENT_OF.values(), *(event.value for event in NumberEvent)}
    assert seen <= KNOWN_EVENTS


def test_a_test_event_is_unknown_to_the_sdk_as_documented() -> None:
    endpoint = Endpoint(
        endpoint_id=UUID(int=5),
        tenant_id=UUID(int=2),
        number_id=UUID(int=4),
        instance="acme",
        name="hook",
        url="https://example.com/",
        events=(),
        active=True,
        created_at=AT,
        updated_at=AT,
    )
    body = json.loads(trial_body(endpoint, delivery_id=UUID(int=6), now=AT))
    assert parse_customer_webhook(body)["type"] == "unknown"
    assert (body["event"], body["data"]["test"]) == (TRIAL_EVENT, True)


@pytest.mark.parametrize("status", EVENT_OF)
def test_case_52_what_a_gateway_said_does_not_reach_a_customer(status: Status) -> None:
    """Bodies are built from our own model, so that a secret beside it has no way in."""
    said = json.loads(fact(status).body()) | {"apikey": "INST", "server_url": "http://gw", "api_key": "GLOBAL"}
    said["ref"] |= {"apikey": "INST"}
    heard = decode(MessageStatusChanged.TYPE, json.dumps(said).encode())
    assert isinstance(heard, MessageStatusChanged)
    for content in CONTENTS:
        body = body_of(heard, EVENT_OF[status], content)
        assert not any(secret in body for secret in (b"INST", b"GLOBAL", b"gw"))
        assert set(json.loads(body)["data"]) <= DOCUMENTED
